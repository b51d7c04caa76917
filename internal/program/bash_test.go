package program_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/program/programtest"
)

// bash replaces only the text after the last "=", and escapes a comma in a single completion.
func TestBashCompletesAnEntryBehindAComma(t *testing.T) {
	code, script, stderr := programtest.Call(t, newRoot(), error.Error, "completion", "bash")
	require.Zero(t, code, stderr)
	for typed, want := range map[string]string{
		"fast,queue=":  "textbook\n",
		"fast,queue=t": "textbook\n",
		"queue=":       "textbook\n",
		"fa":           "fast\\,queue=textbook\n",
	} {
		// In place of the program, and of what bash-completion has: the words, with "=" in the
		// middle of them.
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

// Not every machine has the package bash-completion. Without it, the script joins the words that
// bash has split at "=" and ":".
func TestBashCompletesWithoutThePackage(t *testing.T) {
	code, script, stderr := programtest.Call(t, newRoot(), error.Error, "completion", "bash")
	require.Zero(t, code, stderr)
	for words, want := range map[string]string{
		"program run --gears = fa":       "__complete run --gears=fa",
		"program run --gears fa":         "__complete run --gears fa",
		"program run --gears =":          "__complete run --gears=",
		"program run --listen a : 1 -v ": "__complete run --listen a:1 -v ",
		"program ru":                     "__complete ru",
		"program ":                       "__complete ",
	} {
		const stage = `
program() { printf '%s' "$*" >&3; printf 'x\n:4\n'; }
compopt() { :; }
COMP_TYPE=9 COMP_WORDBREAKS=' =:'
IFS=' ' read -ra COMP_WORDS <<<"$words"
[[ $words == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE=${words// = /=} COMP_LINE=${COMP_LINE// =/=} COMP_LINE=${COMP_LINE// : /:}
__start_program 3>&1 >/dev/null
`
		output, err := exec.Command("bash", "--norc", "-c", "words=$1\n"+script+stage, "bash", words).CombinedOutput()
		require.NoError(t, err, string(output))
		assert.Equal(t, want, string(output), words)
	}
}
