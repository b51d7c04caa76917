package storebench

import (
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

func init() { scenarioObjects = 10_000 }

func TestRun(t *testing.T) {
	for _, subject := range Subjects() {
		for _, kind := range ReaderKinds() {
			t.Run(subject.Name()+"/"+string(kind), func(t *testing.T) {
				result, err := Run(t.Context(), subject, with(func(c *Config) {
					c.Objects, c.Namespaces, c.ObjectSize, c.Readers, c.Reader = 300, 7, 10, 2, kind
					c.Distribution, c.Duration, c.Rate = bench.Zipf, 20*time.Millisecond, 5000
				}), &bench.Meter{})
				require.NoError(t, err)
				for _, f := range result.Figures {
					assert.Positive(t, f.Value, f.Name)
				}
				_, reads := result.Figure("reads")
				assert.True(t, reads)
				assert.Equal(t, uint64(100), result.Latency.Count(), "writes at 5,000 a second in 20 ms")
				assert.Len(t, result.Proof, 2)
			})
		}
	}
}

func TestRunWithoutReaders(t *testing.T) {
	cfg := with(func(c *Config) { c.Objects, c.Readers, c.Duration, c.Rate = 10, 0, 5*time.Millisecond, 1000 })
	result, err := Run(t.Context(), Fast(), cfg, nil)
	require.NoError(t, err)
	allocations, measured := result.Figure("allocations per write")
	assert.True(t, measured)
	assert.Positive(t, allocations.Value)
	assert.EqualValues(t, 5, result.Latency.Count(), "a thousand a second in 5 ms")
}

// On a busy machine the time may be up before the writer begins, and before a reader is scheduled.
func TestAVeryShortRunMeasuresSomething(t *testing.T) {
	result, err := Run(t.Context(), Fast(),
		with(func(c *Config) { c.Objects, c.Readers, c.Duration, c.Rate = 10, 2, 1, 1 }), nil)
	require.NoError(t, err)
	for _, name := range []string{"writes", "reads"} {
		figure, ok := result.Figure(name)
		assert.True(t, ok && figure.Value > 0, name)
	}
	assert.Positive(t, result.Latency.Count())
}

// faulty is our store with a fault.
type faulty struct {
	Store[object]
	updates int
	broken  faults
}

// faults are the possible faults. The zero value has none.
type faults struct {
	losesAnUpdate, altersAnUpdate, losesOnGet, shortLists, shortIndex, mixedIndex, repeatingList bool
}

func (s *faulty) Update(obj object) error {
	s.updates++
	switch {
	case s.updates != 700:
	case s.broken.losesAnUpdate:
		return nil
	case s.broken.altersAnUpdate:
		other := *obj
		other.Generation++
		obj = &other
	}
	return s.Store.Update(obj)
}

func (s *faulty) Get(key string) (object, bool) {
	if s.broken.losesOnGet {
		return nil, false
	}
	return s.Store.Get(key)
}

func (s *faulty) List() int { return less(s.Store.List(), s.broken.shortLists) }

func (s *faulty) ByIndex(namespace string) (int, error) {
	n, err := s.Store.ByIndex(namespace)
	return less(n, s.broken.shortIndex), err
}

func less(n int, broken bool) int {
	if broken {
		return n - 1
	}
	return n
}

func (s *faulty) Each(see func(object)) {
	n := 0
	s.Store.Each(func(obj object) {
		if n++; s.broken.repeatingList && n == 5 {
			see(obj)
		}
		see(obj)
	})
}

func (s *faulty) EachIn(namespace string, see func(object)) error {
	if s.broken.mixedIndex {
		s.Store.Each(see)
		return nil
	}
	return s.Store.EachIn(namespace, see)
}

func faultySubject(broken faults) Subject {
	gear := Fast().(subject[object]).gear
	sound := gear.NewStore
	gear.NewStore = func() Store[object] { return &faulty{Store: sound(), broken: broken} }
	return Of(gear)
}

func TestUnprovenWorkHasNoFigures(t *testing.T) {
	cfg := with(func(c *Config) {
		c.Objects, c.Namespaces, c.Readers, c.Duration, c.Rate = 200, 3, 1, 10*time.Millisecond, 1000
	})
	for _, c := range []struct {
		broken    faults
		reader    ReaderKind
		scenarios []string
	}{
		// Whether a run shows a lost update depends on whether its object is written again.
		{faults{losesOnGet: true}, List, []string{"store/update", "store/by-index", "store/writes-with-readers"}},
		{faults{losesOnGet: true}, Get, nil},
		{faults{shortLists: true}, List, []string{"store/writes-with-readers"}},
		{faults{shortIndex: true}, ByIndex, []string{"store/by-index"}},
		{faults{mixedIndex: true}, List, []string{"store/update", "store/by-index", "store/writes-with-readers"}},
		{faults{repeatingList: true}, List, []string{"store/update", "store/by-index", "store/writes-with-readers"}},
	} {
		var proof *bench.ProofError
		cfg.Reader = c.reader
		_, err := Run(t.Context(), faultySubject(c.broken), cfg, nil)
		assert.ErrorAs(t, err, &proof, "%+v", c)
		for _, name := range c.scenarios {
			_, err := scenario(t, faultySubject(c.broken), name).Run(t.Context(), bench.Quick)
			assert.ErrorAs(t, err, &proof, "%s: %+v", name, c.broken)
		}
	}
}

// One update of many is wrong, and the object is not written again.
func TestALostUpdateIsFound(t *testing.T) {
	for _, broken := range []faults{{losesAnUpdate: true}, {altersAnUpdate: true}} {
		gear := faultySubject(broken).(subject[object]).gear
		c := newContent(gear, 1000, 10, 1, 0)
		store, err := c.fill()
		require.NoError(t, err)
		for i := range 800 {
			require.NoError(t, store.Update(c.next(i)))
		}
		assert.ErrorAs(t, c.prove(store), new(*bench.ProofError))
	}
}

func scenario(t *testing.T, subject Subject, name string) bench.Scenario {
	t.Helper()
	for _, s := range Scenarios(subject) {
		if s.Name == name {
			return s
		}
	}
	t.Fatal("no scenario " + name)
	return bench.Scenario{}
}
