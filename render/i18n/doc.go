// Package i18n has every word that a report says, in English and in Simplified
// Chinese. A catalogue is a struct, not a map: a word that is asked for exists,
// and a sentence takes exactly the arguments that its signature names, in every
// language. Numbers arrive written (package numfmt) and words of a plan arrive
// as they are: nothing here escapes or rounds.
package i18n
