package demo

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The codes of a terminal, and those of the inks.
const (
	taken    = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J" // the other screen, no cursor, no wrapping
	restored = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

var ink = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// drawing returns the codes that show a page at once, with nothing left of the one before. cleared:
// the terminal has got another size.
func drawing(page []string, width int, cleared bool) string {
	out := "\x1b[?2026h"
	if cleared {
		out += "\x1b[2J"
	}
	for i, line := range page {
		out += fmt.Sprintf("\x1b[%d;1H%s", i+1, line)
		if Columns(line) < width {
			out += "\x1b[K"
		}
	}
	return out + "\x1b[?2026l"
}

// With any sequence of pages and sizes, each page is drawn as a whole.
func TestTerminalShowsThePage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anySize := rapid.Custom(func(t *rapid.T) Size {
			return Size{Width: rapid.IntRange(1, 120).Draw(t, "width"),
				Height: rapid.IntRange(1, 40).Draw(t, "height")}
		})
		var out bytes.Buffer
		size, last := anySize.Draw(t, "size"), Size{}
		screen := NewScreen(&out, func() Size { return size }, rapid.Bool().Draw(t, "color"))
		want := taken
		for range rapid.IntRange(1, 6).Draw(t, "draws") {
			if rapid.IntRange(0, 3).Draw(t, "resize") == 0 {
				size = anySize.Draw(t, "new size")
			}
			state := anyState().Draw(t, "state")
			screen.Draw(state)
			want += drawing(Page(state, size), size.Width, size != last)
			last = size
		}
		screen.Close()
		screen.Close()
		screen.Draw(anyState().Draw(t, "late state"))
		assert.Equal(t, want+restored, ink.ReplaceAllString(out.String(), ""), "everything is back")
	})
}

func TestColorsAreAsked(t *testing.T) {
	for _, color := range []bool{false, true} {
		var out bytes.Buffer
		screen := NewScreen(&out, func() Size { return Size{Width: 80, Height: 24} }, color)
		screen.Draw(State{Scene: "delete"})
		assert.Equal(t, color, strings.Contains(out.String(), " lab demo\x1b[0m"))
	}
}

// Printed lines are plain text without escape codes, each beat once and in order.
func TestPrinter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		_, teller := startTeller(t)
		stop := keepDrawing(NewPrinter(&out, 60, false).Draw, teller)
		teller.Tell(You, "kubectl create namespace shop")
		time.Sleep(time.Second)
		teller.Tell(Deleter, "reports in the status that nothing is in the way any more")
		stop()
		stop()
		assert.Equal(t, "  0.0 s you       kubectl create namespace shop\n"+
			"  1.0 s deleter   reports in the status that nothing is in\n"+
			"                  the way any more\n", out.String())
	})
}

// The last picture is the last state, even if that came after the last frame.
func TestRunDrawsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		size := Size{Width: 60, Height: 10}
		_, teller := startTeller(t)
		screen := NewScreen(&out, func() Size { return size }, true)
		stop := keepDrawing(screen.Draw, teller)
		time.Sleep(10 * time.Second)
		teller.Tell(You, "the last word")
		stop()
		screen.Close()
		last := drawing(Page(teller.State(), size), size.Width, false) + restored
		assert.True(t, strings.HasSuffix(ink.ReplaceAllString(out.String(), ""), last), "%q", out.String())
	})
}
