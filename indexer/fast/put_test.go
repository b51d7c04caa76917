package fast

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// A reader takes no lock, so that a key must not be found before its object is in place.
func TestAKeyIsFoundWithItsObject(t *testing.T) {
	x := New(indexer.Config[string]{KeyFunc: func(obj string) (string, error) { return obj, nil }})
	keys := make([]string, 20_000)
	for i := range keys {
		keys[i] = fmt.Sprint("key ", i)
	}
	var next atomic.Int64
	var broken any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { broken = recover() }()
		for at := next.Load(); at < int64(len(keys)); at = next.Load() {
			if obj, exists := x.GetByKey(keys[at]); exists && obj != keys[at] {
				panic("the object is " + obj)
			}
		}
	}()
	for i, key := range keys {
		assert.NoError(t, x.Add(key))
		next.Store(int64(i + 1))
	}
	<-done
	require.Nil(t, broken, "a reader has found a key whose object was not in place yet")
}

// An index that is added while Put computes the values of an object makes Put compute them again.
func TestAnIndexErrorIsReportedOnceIfAddIndexersRunsInBetween(t *testing.T) {
	bad := errors.New("no values")
	values, reported := 0, 0
	var x *Indexer[string]
	x = New(indexer.Config[string]{
		KeyFunc: func(obj string) (string, error) { return obj, nil },
		Indexers: indexer.Indexers[string]{"bad": func(string) ([]string, error) {
			if values++; values == 1 {
				require.NoError(t, x.AddIndexers(indexer.Indexers[string]{"more": func(obj string) ([]string, error) { return []string{obj}, nil }}))
			}
			return nil, bad
		}},
		Trace: &indexer.Trace{IndexFailed: func(errs *indexer.IndexErrors) { reported += errs.Total }},
	})
	err := x.Add("a")
	require.Equal(t, 2, values, "the values are computed for the indexes before and after AddIndexers")
	assert.Equal(t, &indexer.IndexError{Index: "bad", Key: "a", Err: bad}, err, "errors of the attempt that was given up count as well")
	assert.Equal(t, 1, reported, "errors that IndexFailed has reported")
	found, err := x.ByIndex("more", "a")
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, found, "the new index has the object")
}
