package progress_test

import (
	"regexp"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
)

// terminal is a roll of paper that understands the codes that a display uses, and fails a test at any other.
type terminal struct {
	t require.TestingT

	mu     sync.Mutex
	width  int      // guarded by mu
	lines  [][]rune // guarded by mu
	column int      // guarded by mu
	writes int      // guarded by mu
}

func newTerminal(t require.TestingT, width int) *terminal {
	return &terminal{t: t, width: width, lines: [][]rune{nil}}
}

var code = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

func (term *terminal) resize(width int) {
	term.mu.Lock()
	defer term.mu.Unlock()
	term.width = width
}

func (term *terminal) columns() int {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.width
}

func (term *terminal) written() int {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.writes
}

func (term *terminal) Write(data []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	term.writes++
	text := string(data)
	for len(text) > 0 {
		last := &term.lines[len(term.lines)-1]
		if found := code.FindStringSubmatch(text); found != nil {
			text = text[len(found[0]):]
			switch found[2] {
			case "m":
			case "K":
				*last = (*last)[:min(term.column, len(*last))]
			default:
				require.Fail(term.t, "unknown code", found[0])
			}
			continue
		}
		letter := []rune(text)[0]
		text = text[len(string(letter)):]
		switch letter {
		case '\r':
			term.column = 0
		case '\n':
			term.lines = append(term.lines, nil)
			term.column = 0
		default:
			require.GreaterOrEqual(term.t, letter, ' ', "a control character")
			require.Less(term.t, term.column, term.width-1, "the line would wrap")
			*last = append((*last)[:term.column], letter)
			term.column++
		}
	}
	return len(data), nil
}

func (term *terminal) String() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	var lines []string
	for _, line := range term.lines {
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\n")
}
