package fifobench

import (
	"slices"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// with returns the default configuration with changes.
func with(change func(c *Config)) *Config {
	c := new(Config)
	c.AddTo(pflag.NewFlagSet("", pflag.ContinueOnError))
	change(c)
	return c
}

func init() { relistKnown = 10_000 }

func TestRun(t *testing.T) {
	for _, subject := range Subjects() {
		for _, d := range bench.Distributions() {
			t.Run(subject.Name()+"/"+string(d), func(t *testing.T) {
				result, err := Run(t.Context(), subject, with(func(c *Config) {
					c.Producers, c.Keys, c.ObjectSize = 3, 100, 10
					c.Distribution, c.Duration, c.Rate = d, 20*time.Millisecond, 20_000
				}), nil)
				require.NoError(t, err)
				for _, f := range result.Figures {
					assert.Positive(t, f.Value, f.Name)
				}
				assert.Equal(t, uint64(400), result.Latency.Count(), "events at 20,000 a second in 20 ms")
				assert.Len(t, result.Proof, 2)
			})
		}
	}
}

// faulty is our queue with a fault before the consumer.
type faulty struct {
	Queue[object]
	fault func(obj object, deleted bool, see func(object, bool))
}

func (q faulty) Popper(see func(object, bool)) func() error {
	return q.Queue.Popper(func(obj object, deleted bool) { q.fault(obj, deleted, see) })
}

func faultySubject(fault func(obj object, deleted bool, see func(object, bool))) Subject {
	gear := Fast().(subject[object]).gear
	sound := gear.NewQueue
	gear.NewQueue = func(known []object) (Queue[object], error) {
		q, err := sound(known)
		return faulty{q, fault}, err
	}
	return Of(gear)
}

// faults are what may happen to an object; altered returns one with another number.
var faults = map[string]func(obj object, see func(object)){
	"loses":   func(object, func(object)) {},
	"repeats": func(obj object, see func(object)) { see(obj); see(obj) },
	"alters":  func(obj object, see func(object)) { see(altered(obj, obj.Generation+1)) },
	"invents": func(obj object, see func(object)) { see(altered(obj, 1e9)) },
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

func TestUnprovenWorkHasNoFigures(t *testing.T) {
	defer func(before time.Duration) { stallTimeout = before }(stallTimeout)
	stallTimeout = 100 * time.Millisecond // only a queue that lost an event waits that long
	for name, fault := range faults {
		var proof *bench.ProofError
		for i, scenario := range Scenarios(Fast()) {
			_, err := Scenarios(faultySubject(once(300, fault)))[i].Run(t.Context(), bench.Quick)
			assert.ErrorAs(t, err, &proof, "%s, %s", scenario.Name, name)
		}
		// In 10 ms a busy machine adds any number of events, but the paced part has exactly 1 or
		// 400.
		for rate, nth := range map[float64]int{100: 1, 40_000: 300} {
			cfg := with(func(c *Config) { c.Keys, c.Duration, c.Rate = 1000, 10*time.Millisecond, rate })
			_, err := Run(t.Context(), faultySubject(once(nth, fault)), cfg, nil)
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
		"forgets concurrent events": func(obj object, deleted bool, see func(object, bool)) {
			if obj.Generation != bystander {
				see(obj, deleted)
			}
		},
	} {
		scenarios := Scenarios(faultySubject(fault))
		at := slices.IndexFunc(scenarios, func(s bench.Scenario) bool { return s.Name == "fifo/relist" })
		_, err := scenarios[at].Run(t.Context(), bench.Quick)
		assert.ErrorAs(t, err, new(*bench.ProofError), name)
	}
}
