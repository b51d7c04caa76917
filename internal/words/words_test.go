package words

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		noun string
	}{
		"0 objects": {0, "object"},
		"1 object":  {1, "object"},
		"4 passes":  {4, "pass"},
		"2 watches": {2, "watch"},
		"1 watch":   {1, "watch"},
	} {
		assert.Equal(t, want, Count(c.n, c.noun))
	}
}

func TestDurationHasAtMostTwoUnits(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s":   -time.Minute,
		"45s":  45*time.Second + 900*time.Millisecond,
		"1m":   time.Minute,
		"4m3s": 4*time.Minute + 3*time.Second,
		"14m":  14*time.Minute + 3*time.Second,
		"2h":   2*time.Hour + 59*time.Second,
		"2h5m": 2*time.Hour + 5*time.Minute,
		"1d2h": 26*time.Hour + 5*time.Minute,
		"3d4h": 76*time.Hour + 30*time.Minute,
	} {
		assert.Equal(t, want, Duration(d))
	}
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	assert.Equal(t, []string{"a bc", "d", "éfghij", "k l"}, Wrap("a  bc d éfghij k l", 4),
		"a longer word has a line of its own")
	assert.Equal(t, []string{"ää ä"}, Wrap("ää ä", 4), "characters count, not bytes")
	assert.Equal(t, []string{""}, Wrap(" ", 4), "one line at least")
}

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
