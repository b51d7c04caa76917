package progress_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/progress"
)

func onTerminal(term *terminal) progress.Config {
	return progress.Config{Width: term.columns, Look: &progress.Look{ASCII: true, Color: true}}
}

func TestOnATerminalALineIsRewritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, meter := newTerminal(t, 80), &bench.Meter{}
		display := progress.Start(term, meter, onTerminal(term))
		synctest.Wait()
		assert.Empty(t, term.String(), "nothing has begun")

		meter.Begin("filling", "keys", 0, 100)
		meter.Count(25)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "filling  ####..........   25 %  25 of 100 keys  50.0/s", term.String())

		meter.Begin("run", "", 0, 0)
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "run  400 ms", term.String(), "nothing of the longer line is left")

		meter.End()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Empty(t, term.String())

		meter.Begin("again", "", 0, 0)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "again  100 ms", term.String())
		display.Stop()
		display.Stop()
		assert.Empty(t, term.String(), "nothing is left behind")
	})
}

func TestALineIsDrawnTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, meter := newTerminal(t, 80), &bench.Meter{}
		meter.Begin("filling", "keys", 0, 1000)
		display := progress.Start(term, meter, onTerminal(term))
		defer display.Stop()
		for range 1000 {
			meter.Count(1)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		assert.Equal(t, 11, term.written())
	})
}

func TestALineThatHasNotChangedIsNotWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, meter := newTerminal(t, 30), &bench.Meter{}
		meter.Begin("filling", "keys", 0, 1000)
		display := progress.Start(term, meter, onTerminal(term))
		time.Sleep(time.Minute)
		display.Stop()
		assert.Equal(t, 2, term.written(), "to draw and to erase")
	})
}

func TestWindowsAreDragged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, meter := newTerminal(t, 80), &bench.Meter{}
		meter.Begin("filling the store", "keys", 0, 100)
		display := progress.Start(term, meter, onTerminal(term))
		defer display.Stop()
		for width, want := range map[int]string{80: "filling the store  ..............    0 %  0 of 100 keys", 30: "filling the store    0 %", 10: "filling ~", 1: ""} {
			term.resize(width)
			time.Sleep(200 * time.Millisecond)
			synctest.Wait()
			assert.Equal(t, want, term.String(), "width %d", width)
		}
	})
}

func TestTextIsPrintedAboveTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, meter := newTerminal(t, 80), &bench.Meter{}
		meter.Begin("second round", "", 0, 0)
		display := progress.Start(term, meter, onTerminal(term))
		time.Sleep(150 * time.Millisecond)
		display.Print("first round: 1.2 s")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "first round: 1.2 s\nsecond round  200 ms", term.String())
		display.Print("")
		display.Stop()
		assert.Equal(t, "first round: 1.2 s\n\n", term.String())
	})
}

func TestInAPipeEveryPhaseIsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		meter := &bench.Meter{}
		display := progress.Start(&out, meter, progress.Config{})
		meter.Begin("filling", "keys", 0, 100)
		meter.Count(100)
		time.Sleep(time.Second)
		meter.Begin("warming up", "", 0, 0)
		time.Sleep(time.Millisecond)
		meter.Begin("saturated", "keys", 0, 1000)
		meter.Count(1000)
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "filling: 100 keys in 1.0 s, 100/s\nwarming up: 1 ms\n", out.String(), "what is over")
		display.Print("a word between")
		display.Stop()
		display.Stop()
		assert.Equal(t, "filling: 100 keys in 1.0 s, 100/s\nwarming up: 1 ms\na word between\nsaturated: 1,000 keys in 250 ms, 4.00 k/s\n", out.String())
	})
}

func TestATerminalThatCannotGoBackIsLikeAPipe(t *testing.T) {
	for name, config := range map[string]progress.Config{
		"asked for": {Plain: true, Width: func() int { return 80 }},
		"dumb":      {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", "dumb")
			var out strings.Builder
			meter := &bench.Meter{}
			meter.Begin("filling", "keys", 0, 0)
			progress.Start(&out, meter, config).Stop()
			assert.Regexp(t, `^filling: \d+ ms\n$`, out.String())
		})
	}
}

func TestNothingToShow(t *testing.T) {
	var out strings.Builder
	progress.Start(&out, nil, progress.Config{}).Stop()
	progress.Start(&out, nil, progress.Config{Width: func() int { return 80 }}).Stop()
	assert.Empty(t, out.String())
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the window was closed") }

func TestNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &bench.Meter{}
		meter.Begin("filling", "keys", 0, 10)
		display := progress.Start(broken{}, meter, progress.Config{Width: func() int { return 80 }})
		time.Sleep(time.Second)
		display.Stop()
		assert.Equal(t, "filling", meter.Phase().Name)
	})
}
