package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// appHelp is the help of the program: what it is and every command in a line.
func appHelp(app *cli.App) string {
	var b strings.Builder
	printWrapped(&b, "", app.Name+": "+app.Usage)
	fmt.Fprintf(&b, "\nusage: %s COMMAND [FLAGS] WORDS, flags before or after the words\n\n", app.Name)
	for _, c := range app.Commands {
		printWrapped(&b, fmt.Sprintf("  %-10s", c.Name), c.Usage)
	}
	fmt.Fprintf(&b, "\n%[1]s COMMAND --help shows the flags of a command.\n", app.Name)
	return asTemplate(b.String())
}

// commandHelp is the help of one command, its flags in two columns.
func commandHelp(app *cli.App, c *cli.Command) string {
	var b strings.Builder
	printWrapped(&b, "usage: ", strings.Join(strings.Fields(app.Name+" "+c.Name+" [FLAGS] "+c.ArgsUsage), " "))
	b.WriteString("\n")
	printWrapped(&b, "  ", c.Usage)
	if len(c.Flags) > 0 {
		b.WriteString("\n")
	}
	for _, f := range c.Flags {
		usage, value := "", ""
		if described, ok := f.(cli.DocGenerationFlag); ok {
			usage = described.GetUsage()
		}
		// The word in backquotes stands for the value.
		if parts := strings.SplitN(usage, "`", 3); len(parts) == 3 {
			value = " " + parts[1]
			usage = parts[0] + parts[1] + parts[2]
		}
		if s, ok := f.(*cli.StringFlag); ok && s.Value != "" {
			usage += fmt.Sprintf(" (default: %s)", s.Value)
		}
		name := "  --" + f.Names()[0] + value
		const column = 20
		if len(name) > column-2 {
			b.WriteString(name + "\n")
			name = ""
		}
		printWrapped(&b, fmt.Sprintf("%-*s", column, name), usage)
	}
	return asTemplate(b.String())
}

// asTemplate returns a template of the CLI library that says text.
func asTemplate(text string) string { return strings.ReplaceAll(text, "{{", "{{`{{`}}") }
