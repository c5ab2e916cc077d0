package i18n

// named looks a code up and gives an unknown one back as it is: a newer
// analysis may know more codes than this catalogue.
func named(words map[string]string) func(string) string {
	return func(code string) string {
		if word, ok := words[code]; ok {
			return word
		}
		return code
	}
}
