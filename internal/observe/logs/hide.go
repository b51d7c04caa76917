package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"orrery/internal/words"
)

// secrets holds texts that are removed from every line, such as a token that a plugin has printed.
// This is the last of several safeguards: errors and messages of servers are redacted before.
type secrets struct {
	mu    sync.RWMutex
	known []secret // guarded by mu; its elements never change
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
// has no effect, and texts of less than six bytes are ignored.
func (l *Logger) Hide(secret string) { l.secrets.add(secret) }

func (s *secrets) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isKnown := func(known secret) bool { return known.text == text }
	if len(text) < shortestSecret || slices.ContainsFunc(s.known, isKnown) {
		return
	}
	known := append(s.known, secret{text: text, inJSON: inJSON(text)})
	s.known = known[max(0, len(known)-manySecrets):]
}

func (s *secrets) all() []secret {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known
}

// inJSON returns a text as zerolog encodes it between quotation marks.
func inJSON(text string) []byte {
	var out bytes.Buffer
	line := zerolog.New(&out)
	line.Log().Str("s", text).Send()
	return out.Bytes()[len(`{"s":"`) : out.Len()-len("\"}\n")]
}

// hider removes secrets and control characters from lines in JSON before it writes them, and
// shortens long ones. It changes only the values of fields. Field names, messages, levels and times
// are the program's own words: removing a password that equals a field name would hide nothing and
// break the line.
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
	if _, err := io.WriteString(h.Writer, words.Clean(string(shortened(shown)))); err != nil {
		return 0, err
	}
	return len(line), nil
}

var redacted = []byte("[redacted]")

// withoutSecret returns a line with the secret removed from all strings that are not the program's
// own.
func withoutSecret(line, secret []byte) []byte {
	return changed(line, func(text []byte) []byte { return bytes.ReplaceAll(text, secret, redacted) })
}

// longestText is how many bytes of one string are logged, which is more than an object of the
// cluster needs to say what is wrong with it. The sink must have room for several such strings.
const longestText = 16 << 10

// shortened returns a line whose long strings are cut. A cut string ends with its length.
func shortened(line []byte) []byte {
	if len(line) <= longestText {
		return line
	}
	return changed(line, func(text []byte) []byte {
		var plain string
		if len(text) <= longestText || json.Unmarshal(fmt.Appendf(nil, `"%s"`, text), &plain) != nil ||
			len(plain) <= longestText {
			return text
		}
		short := strings.ToValidUTF8(plain[:min(len(plain), longestText)], "")
		return fmt.Appendf(inJSON(short), "... (%d bytes)", len(plain))
	})
}

// changed returns a line, which is a JSON object, with change applied to all strings that are not
// the program's own, without their quotation marks.
func changed(line []byte, change func(text []byte) []byte) []byte {
	out := make([]byte, 0, len(line))
	own := false // the next value belongs to one of ownFields
	for len(line) > 0 {
		begin := bytes.IndexByte(line, '"')
		if begin < 0 {
			break
		}
		end := begin + 1 + endOfString(line[begin+1:])
		text := line[begin+1 : end-1]
		out, line = append(out, line[:begin+1]...), line[end:]
		switch isName := len(line) > 0 && line[0] == ':'; {
		case isName:
			own = ownFields[string(text)]
		case !own:
			text = change(text)
		}
		out = append(append(out, text...), '"')
	}
	return append(out, line...)
}

// ownFields are the fields whose values are this program's own words.
var ownFields = map[string]bool{"message": true, "level": true, "time": true}

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
