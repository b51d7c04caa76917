package labscmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLinesAreBrokenForATerminal(t *testing.T) {
	for line, want := range map[string]string{
		"short\n":                              "short\n",
		"exactly twenty wide.\n":               "exactly twenty wide.\n",
		"a line that is wider than it\n":       "a line that is wider\n  than it\n",
		"  ✘ order   · again   · pool\n":       "  ✘ order   · again\n    · pool\n",
		"   1.2 s  everything is gone\n":       "   1.2 s  everything\n          is gone\n",
		"  ✔ go      all is there now\n":       "  ✔ go      all is\n            there\n            now\n",
		"a-word-that-is-wider-than-it b\n":     "a-word-that-is-wider-than-it\n  b\n",
		"实验 08 正在进行，你写的代码还没有通过测试\n":            "实验 08 正在进行，你写的代码还没有通过测试\n",
		"\x1b[2J is not a part of the width\n": "\x1b[2J is not a part of the width\n",
	} {
		assert.Equal(t, want, broken(line, 20))
	}
}

// A prompt is written at once, and what follows it on its line goes as it is.
func TestWhatIsWrittenInPartsIsNotLost(t *testing.T) {
	var out strings.Builder
	b := &breaker{to: &out, width: 11}
	for _, part := range []string{"\x1b[2J", "Your answer: ", "something else\nand a line that is wide\n", "end"} {
		n, err := b.Write([]byte(part))
		assert.NoError(t, err)
		assert.Equal(t, len(part), n)
	}
	assert.Equal(t, "\x1b[2JYour\n  answer: something else\nand a line\n  that is\n  wide\nend", out.String())
}
