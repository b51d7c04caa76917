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

func TestInAPipeEveryPhaseIsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		meter := &bench.Meter{}
		display := progress.Start(&out, meter)
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

func TestNothingToShow(t *testing.T) {
	var out strings.Builder
	progress.Start(&out, nil).Stop()
	assert.Empty(t, out.String())
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the window was closed") }

func TestNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &bench.Meter{}
		meter.Begin("filling", "keys", 0, 10)
		display := progress.Start(broken{}, meter)
		time.Sleep(time.Second)
		display.Stop()
		assert.Equal(t, "filling", meter.Phase().Name)
	})
}
