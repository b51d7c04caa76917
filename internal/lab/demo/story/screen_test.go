package story_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/demo/story"
)

// filler is the second cell of a wide letter.
const filler = '\x00'

// terminal understands the few escape codes that a screen uses, and fails the test at any other.
type terminal struct {
	t       require.TestingT
	size    story.Size
	cells   [][]rune
	row     int
	column  int
	other   bool // the alternate screen is shown
	hidden  bool // the cursor is hidden
	nowrap  bool
	written int // letters since the last reset
}

func newTerminal(t require.TestingT, size story.Size) *terminal {
	term := &terminal{t: t, size: size}
	term.clear()
	return term
}

func (term *terminal) clear() {
	term.cells = make([][]rune, term.size.Height)
	for i := range term.cells {
		term.cells[i] = []rune(strings.Repeat(" ", term.size.Width))
	}
}

func (term *terminal) resize(size story.Size) {
	if size == term.size {
		return
	}
	term.size = size
	term.clear()
}

var code = regexp.MustCompile(`^\x1b\[([?0-9;]*)([A-Za-z])`)

func (term *terminal) Write(data []byte) (int, error) {
	text := string(data)
	for len(text) > 0 {
		if found := code.FindStringSubmatch(text); found != nil {
			term.control(found[1], found[2])
			text = text[len(found[0]):]
			continue
		}
		letter := []rune(text)[0]
		require.GreaterOrEqual(term.t, letter, ' ', "a control character")
		require.Less(term.t, term.column, term.size.Width, "written beyond the edge")
		term.cells[term.row][term.column] = letter
		for range story.Columns(string(letter)) - 1 {
			term.column++
			term.cells[term.row][term.column] = filler
		}
		term.column++
		term.written++
		text = text[len(string(letter)):]
	}
	return len(data), nil
}

func (term *terminal) control(arguments, name string) {
	switch name {
	case "m":
	case "h", "l":
		on := name == "h"
		switch arguments {
		case "?1049":
			term.other = on
		case "?25":
			term.hidden = !on
		case "?7":
			term.nowrap = !on
		case "?2026":
		default:
			require.Fail(term.t, "unknown mode", arguments)
		}
	case "J":
		require.Equal(term.t, "2", arguments)
		term.clear()
	case "K":
		for i := term.column; i < term.size.Width; i++ {
			term.cells[term.row][i] = ' '
		}
	case "H":
		row, column, _ := strings.Cut(arguments, ";")
		require.Equal(term.t, "1", column)
		n, err := strconv.Atoi(row)
		require.NoError(term.t, err)
		require.LessOrEqual(term.t, n, term.size.Height)
		term.row, term.column = n-1, 0
	default:
		require.Fail(term.t, "unknown code", arguments+name)
	}
}

// shows asserts that the terminal shows the page.
func (term *terminal) shows(page []story.Line) {
	for i, line := range page {
		want := line.String()
		want += strings.Repeat(" ", term.size.Width-line.Width())
		assert.Equal(term.t, want, strings.ReplaceAll(string(term.cells[i]), string(filler), ""))
	}
}

// After any sequence of pages and sizes, the terminal shows the last page.
func TestTerminalShowsThePage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anySize := rapid.Custom(func(t *rapid.T) story.Size {
			return story.Size{Width: rapid.IntRange(1, 120).Draw(t, "width"), Height: rapid.IntRange(1, 40).Draw(t, "height")}
		})
		term := newTerminal(t, anySize.Draw(t, "size"))
		screen := story.NewScreen(term, func() story.Size { return term.size }, rapid.Bool().Draw(t, "color"))
		assert.True(t, term.other && term.hidden && term.nowrap)
		for range rapid.IntRange(1, 6).Draw(t, "draws") {
			if rapid.IntRange(0, 3).Draw(t, "resize") == 0 {
				term.resize(anySize.Draw(t, "new size"))
			}
			state := anyState().Draw(t, "state")
			screen.Draw(state)
			term.shows(story.Page(state, term.size))
		}
		screen.Close()
		screen.Close()
		before := term.written
		screen.Draw(anyState().Draw(t, "late state"))
		assert.Equal(t, before, term.written, "it is closed")
		assert.False(t, term.other || term.hidden || term.nowrap, "everything is back")
	})
}

func TestColorsAreAsked(t *testing.T) {
	state := story.State{Scene: "delete"}
	for _, color := range []bool{false, true} {
		var out bytes.Buffer
		screen := story.NewScreen(&out, func() story.Size { return story.Size{Width: 80, Height: 24} }, color)
		screen.Draw(state)
		assert.Equal(t, color, strings.Contains(out.String(), "m"+" lab demo"))
	}
}

// Printed lines are plain text without escape codes, each beat once and in order.
func TestPrinter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		teller := story.New("delete", "", "")
		stop := story.Run(story.NewPrinter(&out, 60, false).Draw, teller)
		teller.Tell(story.You, "kubectl create namespace shop")
		time.Sleep(time.Second)
		teller.Tell(story.Deleter, "reports in the status that nothing is in the way any more")
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
		term := newTerminal(t, story.Size{Width: 60, Height: 10})
		teller := story.New("delete", "", "")
		screen := story.NewScreen(term, func() story.Size { return term.size }, true)
		stop := story.Run(screen.Draw, teller)
		time.Sleep(10 * time.Second)
		teller.Tell(story.You, "the last word")
		stop()
		screen.Close()
		term.shows(story.Page(teller.State(), term.size))
		assert.False(t, term.other)
	})
}
