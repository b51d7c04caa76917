package bench_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

func TestAMeterThatIsNotThere(t *testing.T) {
	var meter *bench.Meter
	meter.Begin("filling", "keys", 0, 10)
	meter.Count(3)
	meter.End()
	assert.Zero(t, meter.Phase())
	assert.Empty(t, meter.Phases(0))
}

func TestAMeterRemembersItsPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var meter bench.Meter
		assert.Zero(t, meter.Phase())
		assert.Empty(t, meter.Phases(0))
		start := time.Now()

		meter.Begin("filling", "keys", 0, 10)
		meter.Count(4)
		time.Sleep(time.Second)
		assert.Equal(t, bench.Phase{Name: "filling", Unit: "keys", Started: start, Total: 10, Done: 4}, meter.Phase())

		meter.Count(6)
		meter.Begin("running", "events", time.Minute, 0)
		meter.Count(1)
		filling := bench.Phase{Name: "filling", Unit: "keys", Started: start, Ended: start.Add(time.Second), Total: 10, Done: 10}
		running := bench.Phase{Name: "running", Unit: "events", Started: start.Add(time.Second), Lasts: time.Minute, Done: 1}
		assert.Equal(t, running, meter.Phase())
		assert.Equal(t, []bench.Phase{filling, running}, meter.Phases(0))
		assert.Equal(t, []bench.Phase{running}, meter.Phases(1))
		assert.Empty(t, meter.Phases(2))
		assert.Empty(t, meter.Phases(7))

		time.Sleep(time.Second)
		meter.End()
		meter.Count(100) // by a goroutine that was late
		running.Ended = start.Add(2 * time.Second)
		assert.Equal(t, running, meter.Phase())
		assert.Equal(t, []bench.Phase{running}, meter.Phases(1))
		meter.End()
		assert.Equal(t, running, meter.Phase(), "it had ended")
	})
}

func TestCountingFromManyGoroutines(t *testing.T) {
	var meter bench.Meter
	meter.Begin("counting", "", 0, 0)
	var counting sync.WaitGroup
	for range 8 {
		counting.Go(func() {
			for range 1000 {
				meter.Count(2)
				meter.Phase()
			}
		})
	}
	counting.Wait()
	assert.EqualValues(t, 16_000, meter.Phase().Done)
}

func TestHowFarAPhaseIs(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	part := func(p bench.Phase, now time.Time) any {
		part, ok := p.Part(now)
		if !ok {
			return "unknown"
		}
		return part
	}
	assert.Equal(t, 0.25, part(bench.Phase{Started: start, Total: 8, Done: 2}, at(time.Hour)))
	assert.Equal(t, 1.0, part(bench.Phase{Started: start, Total: 8, Done: 9}, at(0)), "one more than was announced")
	assert.Equal(t, 0.5, part(bench.Phase{Started: start, Lasts: 4 * time.Second, Done: 1}, at(2*time.Second)))
	assert.Equal(t, 1.0, part(bench.Phase{Started: start, Lasts: 4 * time.Second}, at(time.Minute)), "it takes longer")
	assert.Equal(t, 0.75, part(bench.Phase{Started: start, Ended: at(3 * time.Second), Lasts: 4 * time.Second}, at(time.Minute)))
	assert.Equal(t, "unknown", part(bench.Phase{Started: start, Done: 5}, at(time.Second)))
	assert.Zero(t, bench.Phase{Started: start}.Elapsed(at(-time.Second)), "a clock that was set back")
}
