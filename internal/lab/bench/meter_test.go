package bench_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

func TestANilMeter(t *testing.T) {
	var meter *bench.Meter
	meter.Begin("filling", "keys", 0, 10)
	meter.Count(3)
	meter.End()
	assert.Zero(t, meter.Phase())
}

func TestAMeterKnowsItsPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var meter bench.Meter
		assert.Zero(t, meter.Phase())
		meter.Begin("filling", "keys", 0, 10)
		meter.Count(4)
		assert.Equal(t, bench.Phase{Name: "filling", Unit: "keys", Started: time.Now(), Total: 10, Done: 4}, meter.Phase())
		time.Sleep(time.Second)
		meter.Begin("running", "events", time.Minute, 0)
		meter.Count(1)
		assert.Equal(t, bench.Phase{Name: "running", Unit: "events", Started: time.Now(), Lasts: time.Minute, Done: 1}, meter.Phase())
		meter.End()
		assert.Empty(t, meter.Phase().Name)
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

// A log contains no progress bars.
func TestNoProgressBarWithoutATerminal(t *testing.T) {
	var out strings.Builder
	meter := &bench.Meter{}
	meter.Begin("filling", "keys", 0, 10)
	stop := bench.ShowProgress(&out, meter)
	stop()
	stop()
	assert.Empty(t, out.String())
}
