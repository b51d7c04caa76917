package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// printHelp is the help of a command, on a terminal as wide as that, else for 80 columns.
func printHelp(command *cobra.Command, _ []string) {
	out := command.OutOrStdout()
	fmt.Fprint(out, helpPage(command, helpWidth(out)))
}

// The widths of a page: what is wider than the most is hard to read.
const (
	leastHelpWidth   = 40
	defaultHelpWidth = 80
	mostHelpWidth    = 100
)

func helpWidth(out io.Writer) int {
	width := defaultHelpWidth
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		width = columns
	}
	if file, ok := out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			width = columns
		}
	}
	return min(max(width, leastHelpWidth), mostHelpWidth)
}

// helpPage is the help of a command for so many columns.
func helpPage(command *cobra.Command, width int) string {
	p := page{width: width}
	p.paragraphs("", command.Long)
	p.heading("Usage")
	p.line("  " + useLine(command))
	if command.HasExample() {
		p.heading("Examples")
		p.line(strings.TrimRight(command.Example, "\n"))
	}
	if command.HasAvailableSubCommands() {
		p.heading("Commands")
		for _, sub := range command.Commands() {
			if sub.IsAvailableCommand() {
				p.entry(sub.Name(), sub.Short, command.NamePadding())
			}
		}
		p.line("")
		p.wrap("", fmt.Sprintf("%q says more about one of them.", command.CommandPath()+" COMMAND --help"))
		return p.text.String()
	}
	p.flags(command)
	manual := manualOf(command.CommandPath())
	p.table("Exit codes", manual.exits)
	p.table("Environment", manual.environment)
	p.table("Files", manual.files)
	if manual.entries != nil {
		p.table(manual.heading, manual.entries())
	}
	if manual.see != "" {
		p.heading("See also")
		for line := range strings.SplitSeq(manual.see, "\n") {
			p.wrap("  ", line)
		}
	}
	return p.text.String()
}

// useLine is how a command is called.
func useLine(command *cobra.Command) string {
	if command.HasAvailableSubCommands() {
		return command.CommandPath() + " COMMAND"
	}
	line := command.CommandPath()
	if _, arguments, found := strings.Cut(command.Use, " "); found {
		line += " " + arguments
	}
	if command.HasAvailableLocalFlags() && !command.DisableFlagsInUseLine {
		line += " [flags]"
	}
	return line
}
