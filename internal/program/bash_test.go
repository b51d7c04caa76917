package program_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/program/programtest"
)

// bash replaces only what is behind the last "=", and escapes a comma in a single completion.
func TestBashCompletesAnEntryBehindAComma(t *testing.T) {
	code, script, stderr := programtest.Call(t, newRoot(), error.Error, "completion", "bash")
	require.Zero(t, code, stderr)
	for typed, want := range map[string]string{
		"fast,queue=":  "textbook\n",
		"fast,queue=t": "textbook\n",
		"queue=":       "textbook\n",
		"fa":           "fast\\,queue=textbook\n",
	} {
		// In place of the program, and of what bash-completion has: the words, with "=" in the middle of them.
		const stage = `
program() { printf '%s\n:6\n' "$offer"; }
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
COMP_WORDBREAKS='= :' COMP_TYPE=9 COMP_CWORD=3 COMP_WORDS=(program run --gears "$typed")
__start_program 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
`
		offer := "fast,queue=textbook"
		if typed == "queue=" {
			offer = "queue=textbook"
		}
		command := exec.Command("bash", "-c", "typed=$1 offer=$2\n"+script+stage, "bash", typed, offer)
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
		assert.Equal(t, want, string(output), typed)
	}
}
