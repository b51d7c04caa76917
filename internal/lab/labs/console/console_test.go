package console_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/console"
	"orrery/internal/lab/labs/texts"
)

const page = "# Page\n\n```\n$ not marked\n```\n\n```console run\n$ true # a comment\n$ echo a && echo b\n```\n\ntext\n\n" +
	"```console verify\n$ echo one two; exit 1\none …\n$ printf 'a\\n\\nc\\n'\na\n\nc\n```\n"

func TestBlocks(t *testing.T) {
	blocks := console.Blocks(page)
	require.Len(t, blocks, 2)
	assert.Equal(t, 7, blocks[0].Line)
	assert.False(t, blocks[0].Verify)
	assert.Equal(t, []console.Command{{Text: "true # a comment"}, {Text: "echo a && echo b"}}, blocks[0].Commands)
	assert.True(t, blocks[1].Verify)
	assert.Equal(t, "a\n\nc\n", blocks[1].Commands[1].Output)
	assert.Contains(t, page, blocks[1].Text)
	for _, block := range blocks {
		problem, err := block.Run(t.Context(), t.TempDir(), os.Environ())
		require.NoError(t, err)
		assert.Empty(t, problem)
	}
}

func TestProblemsOfBlocks(t *testing.T) {
	for want, text := range map[string]string{
		"exit 3: exit status 3\n":                                     "```console run\n$ true\n$ exit 3\n```\n",
		"no line of the block begins with \"$ \"":                     "```console run\nlab list\n```\n",
		"echo a: the output should be\nb\nand is\na\n":                "```console verify\n$ echo a\nb\n```\n",
		"echo said >&2; exit 1: exit status 1\nsaid\n":                "```console run\n$ echo said >&2; exit 1\n```\n",
		"printf 'a\\nb': the output should be\na\nand is\na\nb":       "```console verify\n$ printf 'a\\nb'\na\n```\n",
		"pwd | grep -c no: the output should be\n1\nand is\n0\n":      "```console verify\n$ pwd | grep -c no\n1\n```\n",
		"echo $WORD: the output should be\nother\nand is\nthe word\n": "```console verify\n$ echo $WORD\nother\n```\n",
	} {
		problem, err := console.Blocks(text)[0].Run(t.Context(), "/", []string{"WORD=the word", "PATH=" + os.Getenv("PATH")})
		require.NoError(t, err)
		assert.Equal(t, want, problem)
	}
}

// Without a C compiler, "lab test" says so in a line that no page shows.
func TestTheNoticeOfAMissingRaceDetectorIsLeftOut(t *testing.T) {
	for _, lang := range texts.Langs {
		environment := []string{"NOTICE=" + lang.Say("no-race-detector"), "PATH=" + os.Getenv("PATH")}
		for text, ok := range map[string]bool{
			"$ echo a; echo \"$NOTICE\"; echo b\na\nb\n":                            true,
			"$ echo a; echo \"$NOTICE\"\na\n" + lang.Say("no-race-detector") + "\n": true, // a page may show it
			"$ echo a; echo \"$NOTICE\"; echo c\na\nb\n":                            false,
			"$ echo a; echo \"more: $NOTICE\"\na\n":                                 false,
		} {
			problem, err := console.Blocks("```console verify\n" + text + "```\n")[0].Run(t.Context(), "/", environment)
			require.NoError(t, err)
			assert.Equal(t, ok, problem == "", "%s%s", text, problem)
		}
	}
}

func TestAnEllipsisStandsForAnything(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a … c\n", "a b c\n", true}, {"a … c\n", "a b\n", false}, {"a\n…\nd\n", "a\nb\nc\nd\n", true}, {"a\n…\nd\n", "a\nd\n", true},
		{"…\nd\n", "d\n", true}, {"a\n…\n", "a\n", true}, {"a\n…\n", "b\n", false}, {"", "", true}, {"", "a", false}, {"(a+b)\n", "(a+b)", true},
		{"a\n", "a   \n\n", true},
	} {
		assert.Equal(t, c.ok, console.Matches(c.want, c.got), "%q %q", c.want, c.got)
	}
}
