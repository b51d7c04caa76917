package story

import (
	"io"
	"strconv"
	"strings"
	"sync"
)

// The few codes of a terminal that a screen needs.
const (
	enter       = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J" // alternate screen, no cursor, no wrapping, clear
	leave       = "\x1b[?7h\x1b[?25h\x1b[?1049l"        // restore
	beginUpdate = "\x1b[?2026h"                         // synchronized update: terminals that support it draw the whole page at once
	endUpdate   = "\x1b[?2026l"
	clearPage   = "\x1b[2J"
	clearRest   = "\x1b[K"
)

// healEvery is the number of draws after which every line is written again, in case something else
// wrote to the terminal, such as a pressed key.
const healEvery = 16

// Screen draws pages on a terminal. [NewScreen] makes one.
type Screen struct {
	// Immutable.
	out   io.Writer
	size  func() Size
	color bool

	mu    sync.Mutex
	open  bool     // guarded by mu
	last  Size     // guarded by mu; of the page that is shown
	shown []string // guarded by mu; its lines as they were written
	draws int      // guarded by mu
}

// NewScreen returns a screen on a terminal, not yet open. It calls size before each page.
func NewScreen(out io.Writer, size func() Size, color bool) *Screen {
	return &Screen{out: out, size: size, color: color}
}

// Open takes the terminal over. Close restores it.
func (s *Screen) Open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		s.open, s.last = true, Size{} // nothing is drawn yet
		s.write(enter)
	}
}

// Close restores the terminal. Later calls of Draw do nothing. It may be called more than once.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.open = false
		s.write(leave)
	}
}

// Draw shows the state.
func (s *Screen) Draw(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return
	}
	size := s.size()
	page := Page(state, size)
	var b strings.Builder
	b.WriteString(beginUpdate)
	if size != s.last {
		b.WriteString(clearPage)
		s.shown, s.last = make([]string, size.Height), size
	}
	s.draws++
	heal := s.draws%healEvery == 0
	for i, line := range page {
		var text strings.Builder
		line.encode(&text, s.color)
		if !heal && s.draws > 1 && text.String() == s.shown[i] {
			continue
		}
		s.shown[i] = text.String()
		b.WriteString("\x1b[" + strconv.Itoa(i+1) + ";1H")
		b.WriteString(text.String())
		if line.Width() < size.Width { // after the last column there is nothing to clear, and some terminals would clear that column
			b.WriteString(clearRest)
		}
	}
	b.WriteString(endUpdate)
	s.write(b.String())
}

func (s *Screen) write(text string) { _, _ = io.WriteString(s.out, text) }
