package program

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/words"
)

// helpWidth is the width of help. besideFlags is the widest column of flags that leaves enough of
// it for descriptions; beside wider ones they stand below, indented by belowFlags.
const (
	helpWidth   = 80
	besideFlags = 38
	belowFlags  = 10
)

// wrapFlags makes cobra's usage wrap the lines about flags. A custom template would use
// text/template, which calls methods by names unknown to the linker and makes the program 3.4 MB (a
// fifth) larger.
func wrapFlags(usage func(*cobra.Command) error) func(*cobra.Command) error {
	return func(command *cobra.Command) error {
		out := command.OutOrStdout()
		var text strings.Builder
		command.SetOut(&text)
		err := usage(command)
		command.SetOut(out)
		unwrapped := strings.TrimRight(command.LocalFlags().FlagUsages(), "\n")
		fmt.Fprint(out, strings.Replace(text.String(), unwrapped, flagUsages(unwrapped), 1))
		return err
	}
}

// flagUsage is a line of pflag's: a flag, with the name of its value, and a description.
var flagUsage = regexp.MustCompile(`^( +(?:-\w, )?--\S+(?: \S+)?) +(.*)$`)

// flagUsages lays out the lines that pflag prints about flags.
func flagUsages(unwrapped string) string {
	var flags [][]string
	widest := 0
	for line := range strings.SplitSeq(unwrapped, "\n") {
		parts := flagUsage.FindStringSubmatch(line)
		if parts == nil {
			return unwrapped // pflag's layout has changed
		}
		flags = append(flags, parts[1:])
		widest = max(widest, len(parts[1]))
	}
	var text strings.Builder
	for _, flag := range flags {
		indent := widest + 3
		if widest > besideFlags {
			indent = belowFlags
			fmt.Fprintln(&text, flag[0])
			flag[0] = ""
		}
		for _, line := range words.Wrap(flag[1], helpWidth-indent) {
			fmt.Fprintf(&text, "%-*s%s\n", indent, flag[0], line)
			flag[0] = ""
		}
	}
	return strings.TrimRight(text.String(), "\n")
}
