package labscmd

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"orrery/internal/lab/labs/texts"
	"orrery/internal/program"
)

// widest is the greatest width of a text.
const widest = 80

// bare returns the writer below those of this package and of package program: a terminal is an
// *os.File.
func bare(w io.Writer) io.Writer {
	for {
		over, ok := w.(interface{ below() io.Writer })
		if !ok {
			return program.Underlying(w)
		}
		w = over.below()
	}
}

// columns returns the width of the terminal that w writes to, or 0 if it is none.
func columns(w io.Writer) int {
	file, ok := bare(w).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// fit makes the command break lines that are wider than its terminal. Into a pipe or a file they go
// as they are, for other programs.
func (s *session) fit() {
	out := s.OutOrStdout()
	if _, already := out.(*breaker); already {
		return
	}
	if width := columns(out); width > 0 {
		s.SetOut(&breaker{to: out, width: width})
	}
}

// unbroken returns the output for what must stay as it is: JSON, Markdown and differences.
func unbroken(w io.Writer) io.Writer {
	if b, ok := w.(*breaker); ok {
		return b.to
	}
	return w
}

// width returns the width of texts: that of the terminal, if it has less than the usual one.
func (s *session) width() int {
	if terminal := columns(s.OutOrStdout()); terminal > 0 {
		return min(widest, terminal)
	}
	return widest
}

// paragraph returns a text that is wrapped for the terminal.
func (s *session) paragraph(t texts.Text) string { return t.Wrapped(s.lang, s.width()) }

// breaker breaks the lines that are wider than a terminal. The rest of a line whose beginning was
// written before goes as it is, unless that was an escape sequence.
type breaker struct {
	to     io.Writer
	width  int
	inLine bool
}

func (b *breaker) below() io.Writer { return b.to }

func (b *breaker) Write(p []byte) (int, error) {
	var text strings.Builder
	for line := range strings.Lines(string(p)) {
		if b.inLine {
			text.WriteString(line)
		} else {
			text.WriteString(broken(line, b.width))
		}
		b.inLine = !strings.HasSuffix(line, "\n") && !strings.HasPrefix(line, "\x1b")
	}
	if _, err := io.WriteString(b.to, text.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// broken returns a line that is broken between words. The further lines begin below its last
// column, as in a row of a table, or are indented by two more. A word of one character stays with
// the next one, because it is a mark. Chinese is left to the terminal, which may break it anywhere,
// and so are lines with escape sequences.
func broken(line string, width int) string {
	if utf8.RuneCountInString(strings.TrimRight(line, "\n")) <= width || strings.ContainsFunc(line, func(r rune) bool { return r == '\x1b' || unicode.Is(unicode.Han, r) }) {
		return line
	}
	rest := strings.TrimLeft(line, " ")
	column, gap, hanging := len(line)-len(rest), "", hangingIndent(line)
	var text strings.Builder
	text.WriteString(line[:column])
	for rest != "" {
		word := rest[:wordEnd(rest)]
		rest = rest[len(word):]
		wide := utf8.RuneCountInString(strings.TrimRight(word, "\n"))
		if gap != "" && column+len(gap)+wide > width {
			text.WriteString("\n" + strings.Repeat(" ", hanging))
			column, gap = hanging, ""
		}
		text.WriteString(gap + word)
		column += len(gap) + wide
		after := strings.TrimLeft(rest, " ")
		gap, rest = rest[:len(rest)-len(after)], after
	}
	text.WriteString(gap)
	return text.String()
}

// farthest is where the last column of a row may begin.
const farthest = 20

var (
	// columnForm matches the columns of a row before the last.
	columnForm = regexp.MustCompile(`^ *\S(.*\S)?  +`)
	// markForm matches a mark. A line with several marks is not a row: it has the steps of a lab.
	markForm = regexp.MustCompile(`  [✔✘·] `)
)

// hangingIndent returns the indentation of the further lines of a line.
func hangingIndent(line string) int {
	start := []rune(line)
	row := columnForm.FindString(string(start[:min(len(start), farthest)]))
	if row != "" && len(markForm.FindAllString(line, -1)) < 2 {
		return utf8.RuneCountInString(row)
	}
	return len(line) - len(strings.TrimLeft(line, " ")) + 2
}

// wordEnd returns where the first word of a text ends.
func wordEnd(text string) int {
	end := strings.IndexByte(text, ' ')
	if end < 0 {
		return len(text)
	}
	if utf8.RuneCountInString(text[:end]) > 1 || strings.Trim(text[end:], " \n") == "" {
		return end
	}
	next := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " "))
	if more := strings.IndexByte(text[next:], ' '); more >= 0 {
		return next + more
	}
	return len(text)
}
