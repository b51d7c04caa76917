package course_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/inorder"
	"orrery/indexer"
	"orrery/internal/lab/course"
	"orrery/queue"
	"orrery/wait"
)

// answers compute the answers of questions with the real gears, by lab and question.
var answers = map[string]func(t *testing.T) string{
	"03 moved": func(t *testing.T) string {
		s := newStore()
		require.NoError(t, s.Add(&object{name: "web", version: "n1"}))
		require.NoError(t, s.Update(&object{name: "web", version: "n2"}))
		return strings.Join(s.ListIndexFuncValues(byVersion), " ")
	},
	"03 changed-in-place": func(t *testing.T) string {
		s := newStore()
		require.NoError(t, s.Add(&object{name: "web", version: "n1"}))
		stored, _ := s.GetByKey("web")
		stored.version = "n3"
		require.NoError(t, s.Delete(stored))
		return strings.Join(s.ListIndexFuncValues(byVersion), " ")
	},

	"04 slots": func(t *testing.T) string {
		f := newFIFO(deltafifo.New[*object])
		f.add(t, "a@1", "b@2")
		f.update(t, "a@3", "a@4")
		return f.popAll(t)
	},
	"04 resync": func(t *testing.T) string {
		f := newFIFO(deltafifo.New[*object])
		require.NoError(t, f.store.Replace(objects("a@1", "b@1"), "1"))
		f.update(t, "a@2")
		require.NoError(t, f.Resync())
		return f.popAll(t)
	},
	"04 tombstones": func(t *testing.T) string {
		f := newFIFO(deltafifo.New[*object])
		require.NoError(t, f.store.Replace(objects("a@1", "b@2"), "2"))
		f.add(t, "c@3", "d@4")
		require.NoError(t, f.Replace(objects("a@1", "c@3"), "5"))
		return f.popAll(t)
	},

	"08 three-events": func(*testing.T) string {
		q := queue.New(queue.Config[string]{})
		q.Add("team-3")
		key, _ := q.Get()
		for range 3 {
			q.Add("team-3")
		}
		q.Done(key)
		return strconv.Itoa(q.Len())
	},
	"08 second-worker": func(*testing.T) string {
		q := queue.New(queue.Config[string]{})
		q.Add("team-3")
		q.Get()
		for _, key := range []string{"team-3", "team-3", "team-4"} {
			q.Add(key)
		}
		key, _ := q.Get()
		return key
	},
	"08 drain": func(t *testing.T) (returnedAfter string) {
		q := queue.New(queue.Config[string]{})
		q.Add("team-3")
		q.Get()
		q.Add("team-4")
		drained, last := false, "drain"
		go func() {
			q.ShutDownWithDrain()
			drained = true
		}()
		for _, key := range []string{"team-3", "team-4"} {
			synctest.Wait()
			require.False(t, drained, "ShutDownWithDrain has returned after %s", last)
			if key == "team-4" {
				q.Get()
			}
			q.Done(key)
			last = "done " + key
		}
		synctest.Wait()
		require.True(t, drained, "ShutDownWithDrain does not return")
		return last
	},

	"09 two-delays": func(t *testing.T) string {
		q := queue.NewDelaying(queue.Config[string]{})
		defer q.ShutDown()
		q.AddAfter("team-3", time.Hour)
		q.AddAfter("team-3", 10*time.Hour)
		synctest.Wait()
		delayed := q.Snapshot().Delayed
		require.Len(t, delayed, 1, "a key waits once")
		return fmt.Sprintf("%s in %.0fh", delayed[0].Key, delayed[0].In.Hours())
	},
	"09 done-is-not-forget": func(*testing.T) string {
		q, limiter := queue.New(queue.Config[string]{}), newLimiter()
		fail(limiter, "team-3", 10)
		q.Add("team-3")
		key, _ := q.Get()
		q.Done(key)
		return fail(limiter, "team-3", 1)
	},
	"09 other-keys": func(*testing.T) string {
		limiter := newLimiter()
		fail(limiter, "team-3", 20)
		return fail(limiter, "team-4", 1)
	},

	"10 not-sliding": func(t *testing.T) string {
		ctx, stop := context.WithCancel(t.Context())
		var order []string
		wait.BackoffUntilWithContext(ctx, func(context.Context) {
			if order = append(order, "f"); len(order) == 4 {
				stop()
			}
		}, func() time.Duration {
			order = append(order, "timer")
			return time.Second
		}, false)
		return strings.Join(order, " ")
	},
	"10 panic": func(t *testing.T) string {
		defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
		defer wait.PanicHandlers.Replace()()
		ctx, stop := context.WithCancel(t.Context())
		runs := 0
		wait.JitterUntilWithContext(ctx, func(context.Context) {
			switch runs++; runs {
			case 2:
				panic("the second run")
			case 4:
				stop()
			}
		}, time.Second, 0, true)
		return strconv.Itoa(runs)
	},
	"10 stop-and-timer": func(t *testing.T) string {
		again := 0
		for range 1000 {
			ctx, stop := context.WithCancel(t.Context())
			runs := 0
			wait.JitterUntilWithContext(ctx, func(context.Context) { runs++; stop() }, time.Nanosecond, 0, false)
			again += runs - 1
		}
		return strconv.Itoa(again)
	},

	"14 states": func(t *testing.T) string {
		f := newFIFO(inorder.New[*object])
		f.add(t, "a@1", "b@2")
		f.update(t, "a@3")
		var states []string
		for f.Len() > 0 {
			f.pop(t, nil)
			states = append(states, f.content())
		}
		return strings.Join(states, "; ")
	},
	"14 bookmark": func(t *testing.T) string {
		f := newFIFO(inorder.New[*object])
		f.add(t, "a@1", "b@2")
		f.update(t, "a@3")
		f.Interface.(*inorder.RealFIFO[*object]).Bookmark("9")
		pops := 0
		for ; f.store.version != "9"; pops++ {
			f.pop(t, nil)
		}
		return strconv.Itoa(pops)
	},
	"14 list-in-flight": func(t *testing.T) string {
		f := newFIFO(inorder.New[*object])
		f.add(t, "a@1")
		f.pop(t, func() { require.NoError(t, f.Replace(objects("c@5"), "5")) })
		return f.popAll(t)
	},
}

// The right choice of a question, which is the one without a belief, is what the gear does.
func TestTheGearsGiveTheRightAnswers(t *testing.T) {
	labs, err := course.LoadAll(repository)
	require.NoError(t, err)
	compared := 0
	for _, lab := range labs {
		for i := range lab.Questions {
			q := &lab.Questions[i]
			right := q.Right()
			require.NotNil(t, right, "lab %s, %s: exactly one choice is right", lab.ID, q.ID)
			last := strings.TrimSpace(q.Script[strings.LastIndex(q.Script, "→")+len("→"):])
			assert.Equal(t, right.Is, last, "lab %s, %s: the script ends with the right answer", lab.ID, q.ID)
			if compute := answers[lab.ID+" "+q.ID]; compute != nil {
				compared++
				synctest.Test(t, func(t *testing.T) {
					assert.Equal(t, right.Is, compute(t), "lab %s, %s", lab.ID, q.ID)
				})
			}
		}
	}
	assert.Len(t, answers, compared, "each answer belongs to a question")
	assert.Nil(t, (&course.Question{Choices: make([]course.Choice, 2)}).Right(), "two choices without a belief")
}

// object is what the questions put into gears; "a@5" is the object a in version 5.
type object struct{ name, version string }

func (o *object) GetNamespace() string       { return "" }
func (o *object) GetName() string            { return o.name }
func (o *object) GetResourceVersion() string { return o.version }

func keyOf(o *object) (string, error) { return o.name, nil }

func objects(words ...string) (parsed []*object) {
	for _, word := range words {
		name, version, _ := strings.Cut(word, "@")
		parsed = append(parsed, &object{name, version})
	}
	return parsed
}

const byVersion = "version"

func newStore() *knownObjects {
	return &knownObjects{Store: indexer.New(indexer.Config[*object]{KeyFunc: keyOf, Indexers: indexer.Indexers[*object]{
		byVersion: func(o *object) ([]string, error) { return []string{o.version}, nil },
	}})}
}

// knownObjects is a store that knows its version.
type knownObjects struct {
	*indexer.Store[*object]
	version string
}

func (k *knownObjects) Bookmark(resourceVersion string) { k.version = resourceVersion }

func newLimiter() queue.RateLimiter[string] {
	return queue.NewItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
}

// fail reports failures in a row, and returns the delay after the last one.
func fail(limiter queue.RateLimiter[string], key string, times int) (delay string) {
	for range times {
		delay = limiter.When(key).String()
	}
	return delay
}

// fifo is a queue of deltas with its consumer's store.
type fifo struct {
	deltafifo.Interface[*object]
	store *knownObjects
}

func newFIFO[F deltafifo.Interface[*object]](form func(deltafifo.Config[*object]) F) *fifo {
	store := newStore()
	return &fifo{form(deltafifo.Config[*object]{KeyFunc: keyOf, KnownObjects: store}), store}
}

func (f *fifo) add(t *testing.T, words ...string) {
	for _, o := range objects(words...) {
		require.NoError(t, f.Add(o))
	}
}

func (f *fifo) update(t *testing.T, words ...string) {
	for _, o := range objects(words...) {
		require.NoError(t, f.Update(o))
	}
}

// pop pops, calls meanwhile, applies the deltas to the store, and returns what was popped.
func (f *fifo) pop(t *testing.T, meanwhile func()) (popped string) {
	_, err := f.Pop(func(key string, deltas deltafifo.Deltas[*object], _ bool) error {
		if meanwhile != nil {
			meanwhile()
		}
		popped = key + ":"
		for _, d := range deltas {
			switch {
			case d.Tombstone != nil:
				popped += " Tombstone"
			default:
				popped += " " + string(d.Type)
			}
			if d.Type == deltafifo.Deleted {
				f.store.DeleteKey(key)
			} else if err := f.store.Add(d.Object); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	return popped
}

func (f *fifo) popAll(t *testing.T) string {
	var said []string
	for f.Len() > 0 {
		said = append(said, f.pop(t, nil))
	}
	return strings.Join(said, "; ")
}

// content returns the objects of the store.
func (f *fifo) content() string {
	var words []string
	for _, o := range f.store.List() {
		words = append(words, o.name+"@"+o.version)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}
