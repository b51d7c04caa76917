package workloads

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

// faultyFIFO is our queue with a fault before the consumer.
type faultyFIFO struct {
	FIFO[object]
	fault func(obj object, deleted bool, see func(object, bool))
}

func (q faultyFIFO) Popper(see func(object, bool)) func() error {
	return q.FIFO.Popper(func(obj object, deleted bool) { q.fault(obj, deleted, see) })
}

func faultyGear(fault func(obj object, deleted bool, see func(object, bool))) FIFOGear[object] {
	gear := FastFIFO()
	sound := gear.NewQueue
	gear.NewQueue = func(known []object) (FIFO[object], error) {
		q, err := sound(known)
		return faultyFIFO{q, fault}, err
	}
	return gear
}

// fifoFaults are what may happen to an object; altered returns one with another number.
var fifoFaults = map[string]func(obj object, see func(object)){
	"loses":   func(object, func(object)) {},
	"repeats": func(obj object, see func(object)) { see(obj); see(obj) },
	"alters":  func(obj object, see func(object)) { see(altered(obj, obj.Generation+1)) },
	"invents": func(obj object, see func(object)) { see(obj); see(altered(obj, 1e9)) },
}

func altered(obj object, number int64) object {
	other := *obj
	other.Generation = number
	return &other
}

// once returns a fault of the nth object.
func once(nth int, fault func(object, func(object))) func(object, bool, func(object, bool)) {
	n := 0
	return func(obj object, deleted bool, see func(object, bool)) {
		if n++; n != nth {
			see(obj, deleted)
			return
		}
		fault(obj, func(obj object) { see(obj, deleted) })
	}
}

func TestUnprovenFIFOWorkHasNoFigures(t *testing.T) {
	for name, fault := range fifoFaults {
		var proof *bench.ProofError
		for i, scenario := range FastFIFO().Scenarios() {
			_, err := faultyGear(once(300, fault)).Scenarios()[i].Run(t.Context(), bench.Quick)
			assert.ErrorAs(t, err, &proof, "%s, %s", scenario.Name, name)
		}
		// In 10 ms a busy machine adds any number of events, but the paced part has exactly 1 or
		// 400.
		for rate, nth := range map[float64]int{100: 1, 40_000: 300} {
			cfg := configured(func(c *FIFOConfig) { c.Keys, c.Duration, c.Rate = 1000, 10*time.Millisecond, rate })
			_, err := faultyGear(once(nth, fault)).Run(t.Context(), cfg, nil)
			assert.ErrorAs(t, err, &proof, "%s, rate %v", name, rate)
		}
	}
}

func TestFaultsOfARelist(t *testing.T) {
	for name, fault := range map[string]func(obj object, deleted bool, see func(object, bool)){
		"calls deletions additions": func(obj object, _ bool, see func(object, bool)) { see(obj, false) },
		"keeps deletions to itself": func(obj object, deleted bool, see func(object, bool)) {
			if !deleted {
				see(obj, false)
			}
		},
		"also deletes what is listed": func(obj object, deleted bool, see func(object, bool)) {
			see(obj, deleted)
			if !deleted {
				see(obj, true)
			}
		},
		"forgets concurrent events": func(obj object, deleted bool, see func(object, bool)) {
			if obj.Generation != bystander {
				see(obj, deleted)
			}
		},
	} {
		_, err := faultyGear(fault).relist(t.Context(), bench.Quick)
		assert.ErrorAs(t, err, new(*bench.ProofError), name)
	}
}
