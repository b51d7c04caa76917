package logs

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// secrets are texts that no line may have. Whoever comes by one, such as a token that a plugin has printed, tells it; it is
// taken out of every line that is written from then on, wherever it got there from. That is the last of several nets: errors
// and what a server says have been looked through before.
type secrets struct {
	known atomic.Pointer[[]secret]

	mu sync.Mutex // held while known is replaced
}

// secret is one, and how it stands in a line.
type secret struct {
	text   string
	inJSON []byte // without quotation marks
}

// manySecrets: of tokens that are renewed, so many are remembered.
const manySecrets = 16

// shortestSecret: what is shorter is not looked for, or it would be found in every other word.
const shortestSecret = 6

// Hide takes a secret out of all lines to come: out of what varies in them, see hider. It may be called again and again with
// the same one. Whether a secret can be told from the words around it is decided by whoever calls this, see
// [restclient.SecretsOf]; what has less than six bytes is not looked for in any case.
func (l *Logger) Hide(secret string) { l.secrets.add(secret) }

func (s *secrets) add(text string) {
	if len(text) < shortestSecret || s.has(text) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has(text) {
		return
	}
	known := append(slices.Clone(s.all()), secret{text: text, inJSON: inJSON(text)})
	known = known[max(0, len(known)-manySecrets):]
	s.known.Store(&known)
}

func (s *secrets) all() []secret {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (s *secrets) has(text string) bool {
	return slices.ContainsFunc(s.all(), func(known secret) bool { return known.text == text })
}

// inJSON is a text as zerolog writes it between quotation marks.
func inJSON(text string) []byte {
	var out bytes.Buffer
	line := zerolog.New(&out)
	line.Log().Str("s", text).Send()
	return out.Bytes()[len(`{"s":"`) : out.Len()-len("\"}\n")]
}

// hider is a writer of lines in JSON, without secrets. It looks at the values of fields alone. Their names, the messages,
// levels and times are the program's own words, whatever a secret may be: to take a password out that is the name of a field
// would hide nothing and leave a line that no machine can read.
type hider struct {
	io.Writer
	secrets *secrets
}

func (h hider) Write(line []byte) (int, error) {
	shown := line
	for _, known := range h.secrets.all() {
		if bytes.Contains(shown, known.inJSON) {
			shown = withoutSecret(shown, known.inJSON)
		}
	}
	if _, err := h.Writer.Write(shown); err != nil {
		return 0, err
	}
	return len(line), nil
}

var redacted = []byte("[redacted]")

// withoutSecret returns a line, which is a JSON object, with the secret taken out of all strings in it that are not the
// program's own.
func withoutSecret(line, secret []byte) []byte {
	out := make([]byte, 0, len(line)+len(redacted))
	own := false // the field that the next value belongs to is one of those that hold the program's own words
	for len(line) > 0 {
		begin := bytes.IndexByte(line, '"')
		if begin < 0 {
			break
		}
		end := begin + 1 + endOfString(line[begin+1:])
		text := line[begin:end]
		out, line = append(out, line[:begin]...), line[end:]
		switch isName := len(line) > 0 && line[0] == ':'; {
		case isName:
			own = ownFields[string(text)]
		case !own:
			text = bytes.ReplaceAll(text, secret, redacted)
		}
		out = append(out, text...)
	}
	return append(out, line...)
}

// ownFields are those whose values are words of this program.
var ownFields = map[string]bool{`"message"`: true, `"level"`: true, `"time"`: true}

// endOfString is where the string ends that begins before text, behind its quotation mark.
func endOfString(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
