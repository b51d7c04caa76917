package words

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Writer makes the text of a cluster safe to print: it writes text without control characters,
// except newlines and tabs. Anybody who may write to a cluster writes messages of conditions,
// holders of Leases and names of objects, and a control character in them would move the cursor,
// overwrite lines or set the title of the reader's terminal. The bidirectional controls of Unicode,
// which reorder text, and its line separators count as well. A Writer is safe for concurrent use.
//
// ESC and CR are shown as kubectl shows them, ^[ and \r, and other control characters of ASCII in
// the same way: ^A, ^G. All others are shown as \u007f and \u009b, which means the same in JSON.
// JSON encoders escape the controls of ASCII except DEL, so a Writer does not change what JSON says.
type Writer struct {
	out io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character, lost if no Write completes it; guarded by mu
}

// NewWriter returns a new writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Write writes p, except an unfinished character at its end, which waits for the next Write. What is
// no UTF-8 becomes U+FFFD: to a terminal of eight bits, the byte 0x9b is the same as ESC [.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, p...)
	end := len(text)
	for i := max(0, end-utf8.UTFMax); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	w.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(w.out, Clean(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Underlying returns the writer below.
func (w *Writer) Underlying() io.Writer { return w.out }

// Redraw calls draw at once and then at each interval, on a goroutine of its own, until stop is
// called. stop returns when draw is not called any more, and may be called more than once.
func Redraw(interval time.Duration, draw func()) (stop func()) {
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			draw()
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		drawing.Wait()
	})
}

// Clean returns a text without control characters, except newlines and tabs, as a [Writer] does.
func Clean(text string) string {
	if !strings.ContainsFunc(text, isUnsafe) {
		return text
	}
	var out strings.Builder
	for _, r := range text { // an invalid byte is utf8.RuneError here
		switch {
		case !isUnsafe(r), r == utf8.RuneError:
			out.WriteRune(r)
		case r == '\r':
			out.WriteString(`\r`)
		case r < ' ':
			out.WriteString("^" + string(r+'@'))
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// isUnsafe reports whether Clean escapes a character. It is true for utf8.RuneError too.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError ||
		'\u2028' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' // line separators and bidi controls
}

// lineBreaks are shown as \n and \t within a line.
var lineBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// OneLine returns a text without any control character, for the cell of a table, where a line break
// would forge the next line.
func OneLine(text string) string { return Clean(lineBreaks.Replace(text)) }
