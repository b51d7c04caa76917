package words

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(t *testing.T, parts ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, part := range parts {
		n, err := w.Write([]byte(part))
		require.NoError(t, err)
		assert.Equal(t, len(part), n, "the whole of %q counts as written", part)
	}
	return out.String()
}

func TestControlCharactersAreShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünd 中文 😀":           "plain, ünd 中文 😀",
		"a\tb\n":                    "a\tb\n",
		"\x1b]0;title\a":            "^[]0;title^G",
		"\x1b[2K\x1b[1Agone":        "^[[2K^[[1Agone",
		"all is well\rover it":      `all is well\rover it`,
		"\x00\b\v\f\x1f\x7f":        `^@^H^K^L^_\u007f`,
		"\u009b2J\u0090q\u009c":     `\u009b2J\u0090q\u009c`,
		"\u2028\u202e\u2066a\u2069": `\u2028\u202e\u2066a\u2069`,
		"\x9b2J in eight bits":      "\ufffd2J in eight bits",
		"\ufffd stays":              "\ufffd stays",
		"a\xff\x1bb\xe4\xb8 cut c":  "a\ufffd^[b\ufffd\ufffd cut c",
	} {
		assert.Equal(t, want, written(t, text), "%q", text)
	}
	assert.Equal(t, `one\ntwo\tthree ^[[2K`, OneLine("one\ntwo\tthree \x1b[2K"))
}

// A control character that two writes bring is one all the same, and so is a harmless one.
func TestACharacterInTwoWrites(t *testing.T) {
	assert.Equal(t, `a\u009b2J`, written(t, "a\xc2", "\x9b2J"))
	assert.Equal(t, "中文", written(t, "\xe4", "\xb8", "\xad\xe6\x96", "\x87"))
	assert.Equal(t, "\ufffd\ufffda", written(t, "\xe4\xb8", "a"))
}

// What a script reads from JSON is what the encoder was given.
func TestJSONKeepsItsMeaning(t *testing.T) {
	text := ""
	for r := range rune(0xff) {
		text += string(r)
	}
	encoded, err := json.Marshal(text)
	require.NoError(t, err)
	line := written(t, string(encoded))
	for _, r := range line {
		assert.False(t, unicode.IsControl(r), "%q", r)
	}
	var decoded string
	require.NoError(t, json.Unmarshal([]byte(line), &decoded))
	assert.Equal(t, text, decoded)
}

func TestAFailureIsReported(t *testing.T) {
	_, closed := io.Pipe()
	closed.Close()
	_, err := NewWriter(closed).Write([]byte("a"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}
