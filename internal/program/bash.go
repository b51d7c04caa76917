package program

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// prefixLine is where cobra's script for bash determines what is already typed of a word with "=", which bash keeps.
const prefixLine = `        local word=${comp%"${comp##*${char}}"}` + "\n"

// escapedPrefix follows it. By then the script has escaped a single completion, and what is typed has to be escaped as well, or it
// is inserted twice: "fast,queue=" has a comma, which bash escapes.
const escapedPrefix = `        if ((${#COMPREPLY[*]} == 1)); then printf -v word "%q" "$word"; fi` + "\n"

// completeListsInBash has "completion bash" print cobra's script with the repair.
func completeListsInBash(root *cobra.Command) {
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || bash.Name() != "bash" {
		return
	}
	bash.RunE = func(command *cobra.Command, _ []string) error {
		plain, err := command.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script strings.Builder
		if err := root.GenBashCompletionV2(&script, !plain); err != nil {
			return err
		}
		_, err = io.WriteString(command.OutOrStdout(), strings.Replace(script.String(), prefixLine, prefixLine+escapedPrefix, 1))
		return err
	}
}
