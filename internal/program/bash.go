package program

import (
	"strings"

	"github.com/spf13/cobra"
)

// bashRepairs are parts of cobra's script for bash, with their replacements.
var bashRepairs = strings.NewReplacer(
	// The typed part of a word with "=", which bash keeps. The script has escaped a single
	// completion here, so the typed part must be escaped as well, or it is inserted twice:
	// "fast,queue=" has a comma, which bash escapes.
	`        local word=${comp%"${comp##*${char}}"}`+"\n",
	`        local word=${comp%"${comp##*${char}}"}`+"\n"+
		`        if ((${#COMPREPLY[*]} == 1)); then printf -v word "%q" "$word"; fi`+"\n",
	// _get_comp_words_by_ref belongs to the package bash-completion, which may be missing.
	`    _get_comp_words_by_ref "$@" cur prev words cword`+"\n",
	`    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    # bash splits words at "=" and ":"; pieces with no space between them are one word.
    local line=${COMP_LINE} piece i
    words=() cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        piece=${COMP_WORDS[i]}
        if ((i > 0)) && [[ ${line} != [[:space:]]* ]]; then
            words[${#words[@]}-1]+=${piece}
        else
            words+=("${piece}")
        fi
        line=${line#"${line%%[![:space:]]*}"}
        line=${line:${#piece}}
        if ((i == COMP_CWORD)); then cword=$((${#words[@]} - 1)); fi
    done
    cur=${words[cword]} prev=${words[cword > 0 ? cword - 1 : 0]}
`,
)

// repairBashCompletion makes "completion bash" print cobra's script with the repairs.
func repairBashCompletion(root *cobra.Command) {
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || bash.Name() != "bash" {
		return
	}
	bash.Long = strings.Replace(bash.Long, "This script depends on the 'bash-completion' package.\nIf it is not installed already, you can install it via your OS's package manager.\n",
		"It works with or without the package bash-completion.\n", 1)
	bash.RunE = func(command *cobra.Command, _ []string) error {
		plain, err := command.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script strings.Builder
		if err := root.GenBashCompletionV2(&script, !plain); err != nil {
			return err
		}
		_, err = bashRepairs.WriteString(command.OutOrStdout(), script.String())
		return err
	}
}
