package display

import (
	"io"
	"strconv"
	"strings"
	"sync"

	"orrery/internal/lab/demo/story"
)

// The few codes of a terminal that a screen needs.
const (
	enter       = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J" // the other page, no cursor, no wrapping, empty
	leave       = "\x1b[?7h\x1b[?25h\x1b[?1049l"        // all of it back
	beginUpdate = "\x1b[?2026h"                         // terminals that know it show what follows in one go
	endUpdate   = "\x1b[?2026l"
	clearPage   = "\x1b[2J"
	clearRest   = "\x1b[K"
)

// healEvery is how many draws come between two that write every line, in case something else wrote on the terminal: a key
// that was pressed, a message of the kernel.
const healEvery = 16

// Screen draws pages on a terminal. [NewScreen] makes one.
type Screen struct {
	// Immutable.
	out    io.Writer
	size   func() Size
	color  bool
	glyphs *Glyphs

	mu    sync.Mutex
	open  bool     // guarded by mu
	last  Size     // guarded by mu; of the page that is shown
	shown []string // guarded by mu; its lines as they were written
	draws int      // guarded by mu
}

// NewScreen returns a screen on a terminal; size is asked before each page. It is not open yet.
func NewScreen(out io.Writer, size func() Size, color bool, glyphs *Glyphs) *Screen {
	return &Screen{out: out, size: size, color: color, glyphs: glyphs}
}

// Open takes the terminal over. Close gives it back.
func (s *Screen) Open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		s.open, s.last = true, Size{} // nothing of a page is there
		s.write(enter)
	}
}

// Close gives the terminal back as it was. What is drawn afterwards is dropped. It may be called more than once.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.open = false
		s.write(leave)
	}
}

// Draw shows the state.
func (s *Screen) Draw(state story.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return
	}
	size := s.size()
	page := Page(state, size, s.glyphs)
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
		if line.Width() < size.Width { // in the last column there is no rest, and some terminals would clear that column
			b.WriteString(clearRest)
		}
	}
	b.WriteString(endUpdate)
	s.write(b.String())
}

func (s *Screen) write(text string) { _, _ = io.WriteString(s.out, text) }
