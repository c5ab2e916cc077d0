package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// inOrder moves a command's flags in front of its other words, because the CLI
// library takes a flag after the first such word for one of them. What is no
// known flag stays where the library will complain about it.
func inOrder(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	command := app.Command(args[1])
	if command == nil {
		return args
	}
	takesValue := map[string]bool{}
	for _, f := range command.Flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			takesValue[name] = !isBool
		}
	}
	var flags, words []string
	rest := args[2:]
	for i := 0; i < len(rest); i++ {
		word := rest[i]
		if word == "--" {
			words = append(words, rest[i+1:]...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			words = append(words, word)
			continue
		}
		flags = append(flags, word)
		name := strings.TrimLeft(word, "-")
		if !strings.Contains(name, "=") && takesValue[name] && i+1 < len(rest) {
			i++
			flags = append(flags, rest[i])
		}
	}
	ordered := append([]string{args[0], args[1]}, flags...)
	if len(words) > 0 {
		ordered = append(append(ordered, "--"), words...)
	}
	return ordered
}

// words returns exactly the words that a command takes besides its flags, and
// names the one that is missing or too many.
func words(c *cli.Context, names ...string) ([]string, error) {
	got := c.Args().Slice()
	switch {
	case len(got) < len(names):
		return nil, usagef("%s: %s is missing; usage: pairbench %s %s", c.Command.Name, names[len(got)], c.Command.Name, c.Command.ArgsUsage)
	case len(got) > len(names):
		return nil, usagef("%s: %q is one word too many; usage: pairbench %s %s", c.Command.Name, got[len(names)], c.Command.Name, c.Command.ArgsUsage)
	}
	return got, nil
}

// manyWords returns the words of a command that takes one or more of a kind.
func manyWords(c *cli.Context, name string) ([]string, error) {
	if c.NArg() == 0 {
		return nil, usagef("%s: %s is missing; usage: pairbench %s %s", c.Command.Name, name, c.Command.Name, c.Command.ArgsUsage)
	}
	return c.Args().Slice(), nil
}
