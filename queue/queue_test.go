package queue_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
	"orrery/queue/fast"
)

// pass advances the time by d and lets everything due happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

type name struct{ namespace, name string }

func TestKeysOfOtherTypes(t *testing.T) {
	t.Run("textbook", func(t *testing.T) {
		testKeysOfOtherTypes(t, queue.New(queue.Config[name]{}), queue.New(queue.Config[any]{}))
	})
	t.Run("fast", func(t *testing.T) {
		testKeysOfOtherTypes(t, fast.New(queue.Config[name]{}), fast.New(queue.Config[any]{}))
	})
}

func testKeysOfOtherTypes(t *testing.T, names queue.Interface[name], anything queue.Interface[any]) {
	names.Add(name{"ns", "a"})
	names.Add(name{"ns", "b"})
	names.Add(name{"ns", "a"})
	assert.Equal(t, []name{{"ns", "a"}, {"ns", "b"}}, takeAll(names))

	assert.Panics(t, func() { anything.Add([]int{1}) }, "slices are not comparable")
	anything.Add(1)
	anything.Add("1")
	assert.Equal(t, []any{1, "1"}, takeAll(anything), "the panic left nothing behind")
}

type object struct{ _ [100]byte }

// The queue does not keep keys alive that were processed.
func TestKeysAreCollected(t *testing.T) {
	t.Run("textbook", func(t *testing.T) { testKeysAreCollected(t, queue.NewDelaying(queue.Config[*object]{})) })
	t.Run("fast", func(t *testing.T) { testKeysAreCollected(t, fast.NewDelaying(queue.Config[*object]{})) })
}

func testKeysAreCollected(t *testing.T, q queue.DelayingInterface[*object]) {
	var pointers []weak.Pointer[object]
	objects := make([]*object, 1000)
	for i := range objects {
		objects[i] = new(object)
		pointers = append(pointers, weak.Make(objects[i]))
		if i%2 == 0 {
			q.AddAfter(objects[i], time.Hour)
		}
	}
	for _, o := range objects {
		q.Add(o)
	}
	clear(objects)
	q.Add(new(object)) // the queue is not empty at the end
	for range 1000 {
		key, _ := q.Get()
		q.Done(key)
	}
	runtime.GC()
	alive := 0
	for _, p := range pointers {
		if p.Value() != nil {
			alive++
		}
	}
	assert.LessOrEqual(t, alive, 1, "one may still be on the stack")
	require.NoError(t, check[*object](q))
	assert.Equal(t, 1, q.Len()) // q is alive until here
}

func TestDelayThatOverflows(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			pass(time.Hour)
			q.AddAfter("never", math.MaxInt64)
			q.AddAfter("soon", time.Second)
			require.NoError(t, check[string](q))
			pass(time.Hour)
			assert.Equal(t, []string{"soon"}, takeAll[string](q))
			require.NoError(t, check[string](q))
			assert.Len(t, q.Snapshot().Delayed, 1)
			q.ShutDown()
		})
	})
}

// The timer is set to the earliest delay, also after that has changed.
func TestTimerFollowsTheEarliestDelay(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			defer q.ShutDown()
			step := func(want ...string) {
				t.Helper()
				require.NoError(t, check[string](q))
				assert.Equal(t, want, takeAll[string](q))
			}
			q.AddAfter("a", 10*time.Second)
			q.AddAfter("b", 5*time.Second)
			q.AddAfter("c", 8*time.Second)
			q.Add("b") // the timer stays set
			step("b")
			pass(5 * time.Second)
			step()
			pass(3 * time.Second)
			step("c")
			q.AddAfter("d", time.Second)
			pass(time.Second)
			step("d")
			q.AddAfter("e", 20*time.Second)
			pass(time.Second)
			step("a")
			pass(time.Hour)
			step("e")
			q.AddAfter("f", time.Second)
			pass(time.Second)
			step("f")
		})
	})
}

// Each key wakes one waiting worker, whichever way it was added.
func TestManyWorkersManyKeys(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			got := make(chan string, 100)
			for range 100 {
				go func() {
					key, _ := q.Get()
					got <- key
				}()
			}
			synctest.Wait()
			for i := range 50 {
				q.AddAfter(fmt.Sprint("delayed-", i), time.Second)
				q.Add(fmt.Sprint("now-", i))
			}
			pass(time.Second)
			assert.Len(t, got, 100)
			q.ShutDown()
		})
	})
}

func TestNewRateLimitingDefault(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			defer q.ShutDown()
			q.AddRateLimited("a")
			assert.Equal(t, []queue.DelayedKey[string]{{Key: "a", In: 5 * time.Millisecond}}, q.Snapshot().Delayed)
		})
	})
}
