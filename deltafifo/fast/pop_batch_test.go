package fast_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

// batchOfOne is a queue whose Pop is a PopBatch.
type batchOfOne struct {
	*fast.DeltaFIFO[*object]
}

func (b batchOfOne) Pop(process func(string, deltafifo.Deltas[*object], bool) error) (popped deltafifo.Deltas[*object],
	err error) {
	_, err = b.PopBatch(1, func(key string, d deltafifo.Deltas[*object], initial bool) error {
		popped = d
		return process(key, d, initial)
	})
	return popped, err
}

// The contract holds for a batch of one.
func TestContractOfPopBatch(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: func(cfg deltafifo.Config[*object]) deltafifotest.Queue { return batchOfOne{fast.New(cfg)} },
	})
}

func batchQueue(t *testing.T, names ...string) *fast.DeltaFIFO[*object] {
	t.Helper()
	f := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc})
	for _, name := range names {
		require.NoError(t, f.Add(deltafifotest.Obj(name, 1)))
	}
	return f
}

func TestPopBatchTakesWhatWaits(t *testing.T) {
	f := batchQueue(t, "a", "b", "c", "d")
	var reported []string
	process := func(key string, d deltafifo.Deltas[*object], _ bool) error {
		reported = append(reported, deltafifotest.DescribeAll(d))
		if key == "b" && len(reported) == 2 {
			// Deltas queued meanwhile belong to the batch as well.
			require.NoError(t, f.Update(deltafifotest.Obj("c", 2)))
			require.NoError(t, f.Add(deltafifotest.Obj("e", 1)))
			require.NoError(t, f.Update(deltafifotest.Obj("b", 2)))
		}
		return nil
	}
	n, err := f.PopBatch(2, process)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	n, err = f.PopBatch(100, process)
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	assert.Equal(t, []string{"Added a@1", "Added b@1", "Added c@1, Updated c@2", "Added d@1", "Added e@1",
		"Updated b@2"}, reported)

	f.Close()
	n, err = f.PopBatch(100, process)
	assert.ErrorIs(t, err, deltafifo.ErrFIFOClosed)
	assert.Zero(t, n)
}

func TestPopBatchEndsWithAnError(t *testing.T) {
	f := batchQueue(t, "a", "b", "c")
	broken := errors.New("broken")
	failOn := func(bad string, err error) func(string, deltafifo.Deltas[*object], bool) error {
		return func(key string, _ deltafifo.Deltas[*object], _ bool) error {
			if key == bad {
				return err
			}
			return nil
		}
	}
	n, err := f.PopBatch(100, failOn("b", broken))
	assert.Equal(t, broken, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, 1, f.Len(), "c was not taken")

	n, err = f.PopBatch(100, failOn("c", &deltafifo.ErrRequeue{Err: broken}))
	assert.Equal(t, broken, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, 1, f.Len(), "c was put back")

	assert.Panics(t, func() {
		_, _ = f.PopBatch(100, func(string, deltafifo.Deltas[*object], bool) error { panic("no") })
	})
	require.NoError(t, f.Add(deltafifotest.Obj("d", 1)))
	n, err = f.PopBatch(100, failOn("", nil))
	assert.NoError(t, err)
	assert.Equal(t, 1, n, "the queue is usable after a panic, and c counts as processed")
}

// Another consumer waits until the batch ends, and gets the next key.
func TestPopBatchAndAnotherConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := batchQueue(t, "a", "b", "c")
		waiting, others := make(chan struct{}), make(chan string)
		go func() {
			<-waiting
			for {
				_, err := f.Pop(func(key string, _ deltafifo.Deltas[*object], _ bool) error {
					others <- key
					return nil
				})
				if err != nil {
					close(others)
					return
				}
			}
		}()
		n, err := f.PopBatch(2, func(key string, _ deltafifo.Deltas[*object], _ bool) error {
			if key == "a" {
				close(waiting)
				synctest.Wait() // until the other consumer waits
			}
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, 2, n)
		assert.Equal(t, "c", <-others)
		f.Close()
		_, open := <-others
		assert.False(t, open)
	})
}

// A batch that ends early leaves keys behind and must wake a Pop that waits for them.
func TestPopBatchThatFailsWakesAnotherConsumer(t *testing.T) {
	for name, process := range map[string]func(string, deltafifo.Deltas[*object], bool) error{
		"fails":    func(string, deltafifo.Deltas[*object], bool) error { return errors.New("broken") },
		"panics":   func(string, deltafifo.Deltas[*object], bool) error { panic("broken") },
		"requeues": func(string, deltafifo.Deltas[*object], bool) error { return &deltafifo.ErrRequeue{} },
	} {
		for _, limit := range []int{1, 100} {
			synctest.Test(t, func(t *testing.T) {
				f := batchQueue(t, "a", "b")
				popped := ""
				func() {
					defer func() { _ = recover() }()
					_, _ = f.PopBatch(limit, func(key string, d deltafifo.Deltas[*object], initial bool) error {
						go func() {
							_, _ = f.Pop(func(key string, _ deltafifo.Deltas[*object], _ bool) error {
								popped = key
								return nil
							})
						}()
						synctest.Wait() // until it blocks
						return process(key, d, initial)
					})
				}()
				synctest.Wait()
				assert.Equal(t, "b", popped,
					"after a batch of %d whose first key %s, a blocked Pop gets the second key", limit, name)
				f.Close()
			})
		}
	}
}
