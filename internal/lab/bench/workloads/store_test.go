package workloads

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// faultyStore is our store with a fault.
type faultyStore struct {
	Store[object]
	updates int
	broken  storeFaults
}

// storeFaults are the possible faults. The zero value has none.
type storeFaults struct {
	losesAnUpdate, altersAnUpdate, losesOnGet, shortLists, shortIndex, mixedIndex, repeatingList bool
}

func (s *faultyStore) Update(obj object) error {
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

func (s *faultyStore) Get(key string) (object, bool) {
	if s.broken.losesOnGet {
		return nil, false
	}
	return s.Store.Get(key)
}

func (s *faultyStore) List(see func(object)) int {
	n := 0
	repeated := func(obj object) {
		if n++; s.broken.repeatingList && n == 5 {
			see(obj)
		}
		see(obj)
	}
	if see == nil {
		repeated = nil
	}
	return less(s.Store.List(repeated), s.broken.shortLists)
}

func (s *faultyStore) ByIndex(namespace string, see func(object)) (int, error) {
	if s.broken.mixedIndex && see != nil {
		s.Store.List(see)
		see = nil
	}
	n, err := s.Store.ByIndex(namespace, see)
	return less(n, s.broken.shortIndex), err
}

func less(n int, broken bool) int {
	if broken {
		return n - 1
	}
	return n
}

func faultyStoreGear(broken storeFaults) StoreGear[object] {
	gear := FastStore()
	sound := gear.NewStore
	gear.NewStore = func() Store[object] { return &faultyStore{Store: sound(), broken: broken} }
	return gear
}

func TestUnprovenStoreWorkHasNoFigures(t *testing.T) {
	type gear = StoreGear[object]
	type scenario = func(gear, context.Context, bench.Effort) (bench.Outcome, error)
	all := []scenario{gear.update, gear.byIndex, gear.writesWithReaders}
	for _, c := range []struct {
		broken    storeFaults
		scenarios []scenario
	}{
		// Whether a run shows a lost update depends on whether its object is written again.
		{storeFaults{losesOnGet: true}, all},
		{storeFaults{shortLists: true}, []scenario{gear.writesWithReaders}},
		{storeFaults{shortIndex: true}, []scenario{gear.byIndex}},
		{storeFaults{mixedIndex: true}, all},
		{storeFaults{repeatingList: true}, all},
	} {
		var proof *bench.ProofError
		_, err := faultyStoreGear(c.broken).Run(t.Context(), configured(func(cfg *StoreConfig) {
			cfg.Objects, cfg.Readers, cfg.Duration, cfg.Rate = 200, 1, 10*time.Millisecond, 1000
		}), nil)
		assert.ErrorAs(t, err, &proof, "%+v", c.broken)
		for i, scenario := range c.scenarios {
			_, err := scenario(faultyStoreGear(c.broken), t.Context(), bench.Quick)
			assert.ErrorAs(t, err, &proof, "%d: %+v", i, c.broken)
		}
	}
}

// One update of many is wrong, and the object is not written again.
func TestALostUpdateIsFound(t *testing.T) {
	for _, broken := range []storeFaults{{losesAnUpdate: true}, {altersAnUpdate: true}} {
		c := newContent(faultyStoreGear(broken), &StoreConfig{Objects: 1000})
		store, err := c.fill()
		require.NoError(t, err)
		for i := range 800 {
			require.NoError(t, store.Update(c.next(i)))
		}
		assert.ErrorAs(t, c.prove(store), new(*bench.ProofError))
	}
}
