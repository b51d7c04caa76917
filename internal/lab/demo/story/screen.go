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
	beginUpdate = "\x1b[?2026h"                         // synchronized update: terminals that support it draw the whole page at once
	endUpdate   = "\x1b[?2026l"
	clearPage   = "\x1b[2J"
	clearRest   = "\x1b[K"
)

// Restore restores a terminal that a screen has taken over.
const Restore = "\x1b[?7h\x1b[?25h\x1b[?1049l"

// Screen draws pages on a terminal. [NewScreen] makes one.
type Screen struct {
	// Immutable.
	out   io.Writer
	size  func() Size
	color bool

	mu   sync.Mutex
	open bool // guarded by mu
	last Size // guarded by mu; of the page that is shown
}

// NewScreen takes a terminal over until Close. It calls size before each page.
func NewScreen(out io.Writer, size func() Size, color bool) *Screen {
	s := &Screen{out: out, size: size, color: color, open: true}
	s.write(enter)
	return s
}

// Close restores the terminal. Later calls of Draw do nothing. It may be called more than once.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.open = false
		s.write(Restore)
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
		s.last = size
	}
	for i, line := range page {
		b.WriteString("\x1b[" + strconv.Itoa(i+1) + ";1H")
		line.encode(&b, s.color)
		if line.Width() < size.Width { // there is nothing to clear after the last column
			b.WriteString(clearRest)
		}
	}
	b.WriteString(endUpdate)
	s.write(b.String())
}

func (s *Screen) write(text string) { _, _ = io.WriteString(s.out, text) }
