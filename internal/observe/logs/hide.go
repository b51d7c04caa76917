package logs

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// secrets holds texts that are removed from every line, such as a token that a plugin has printed.
// This is the last of several safeguards: errors and messages of servers are redacted before.
type secrets struct {
	known atomic.Pointer[[]secret]

	mu sync.Mutex // held while known is replaced
}

// secret is a text and its encoding in a line.
type secret struct {
	text   string
	inJSON []byte // without quotation marks
}

// manySecrets is how many secrets are remembered, since tokens are renewed.
const manySecrets = 16

// shortestSecret is the length of the shortest text that is removed. A shorter one would be found
// in ordinary words.
const shortestSecret = 6

// Hide removes a secret from the fields of all later lines. Calling it again with the same secret
// has no effect, and texts of less than six bytes are ignored. The caller decides whether a secret
// differs from ordinary words, see [restclient.SecretsOf].
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

// inJSON returns a text as zerolog encodes it between quotation marks.
func inJSON(text string) []byte {
	var out bytes.Buffer
	line := zerolog.New(&out)
	line.Log().Str("s", text).Send()
	return out.Bytes()[len(`{"s":"`) : out.Len()-len("\"}\n")]
}

// hider removes secrets from lines in JSON before it writes them. It changes only the values of
// fields. Field names, messages, levels and times are the program's own words: removing a password
// that equals a field name would hide nothing and break the line.
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

// withoutSecret returns a line, which is a JSON object, with the secret removed from all strings
// that are not the program's own.
func withoutSecret(line, secret []byte) []byte {
	out := make([]byte, 0, len(line)+len(redacted))
	own := false // the next value belongs to one of ownFields
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

// ownFields are the fields whose values are this program's own words.
var ownFields = map[string]bool{`"message"`: true, `"level"`: true, `"time"`: true}

// endOfString returns the index behind the closing quotation mark of a string; text begins behind
// the opening one.
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
