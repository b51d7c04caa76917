package fast

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/deltafifo"
)

func added(v int) deltafifo.Delta[int] { return deltafifo.Delta[int]{Type: deltafifo.Added, Object: v} }

func queueOf(keys ...string) *queue[int] {
	l := newQueue[int](0)
	for i, key := range keys {
		l.push(newRecord(key, added(i)))
	}
	return l
}

func (l *queue[T]) keys() []string {
	keys := []string{}
	for r := range l.all() {
		keys = append(keys, r.key)
	}
	return keys
}

func TestAbsorbKeepsPlacesWhicheverIsLonger(t *testing.T) {
	for _, test := range []struct{ mine, theirs, want []string }{
		{nil, nil, []string{}},
		{nil, []string{"a", "b"}, []string{"a", "b"}},
		{[]string{"a", "b"}, nil, []string{"a", "b"}},
		{[]string{"a", "b"}, []string{"c", "b", "d"}, []string{"a", "b", "c", "d"}},
		{[]string{"a", "b", "c"}, []string{"d", "b"}, []string{"a", "b", "c", "d"}},
		{[]string{"a", "b"}, []string{"b", "a"}, []string{"a", "b"}},
	} {
		l := queueOf(test.mine...)
		met := []string{}
		l.absorb(queueOf(test.theirs...), func(mine, theirs *record[int]) {
			assert.Equal(t, mine.key, theirs.key)
			met = append(met, mine.key)
		})
		assert.NoError(t, l.check())
		assert.Equal(t, test.want, l.keys())
		assert.Len(t, met, len(test.mine)+len(test.theirs)-len(test.want))
	}
}

// An empty queue must release the memory that a list of 100,000 objects took.
func TestAnEmptyQueueReleasesItsMemory(t *testing.T) {
	l := newQueue[int](0)
	for i := range 2 * keepCapacity {
		l.push(newRecord(strconv.Itoa(i), added(i)))
	}
	for l.len() > 0 {
		l.pop()
	}
	assert.LessOrEqual(t, cap(l.order), keepCapacity)
}

// A queue that is never empty must not grow with the number of records that pass through it.
func TestABusyQueueReusesItsPlaces(t *testing.T) {
	l := queueOf("x", "y")
	for i := range 100_000 {
		l.push(newRecord(strconv.Itoa(i), added(i)))
		l.pop()
	}
	assert.Equal(t, 2, l.len())
	assert.Less(t, cap(l.order), 16)
	for _, r := range l.order[len(l.order):cap(l.order)] {
		assert.Nil(t, r, "an unused place keeps a record alive")
	}
}

// Compares a queue with a slice of keys and a map of values.
func TestQueueAgainstSliceAndMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newQueue[int](0)
		order := []string{}
		values := map[string][]int{}
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		version := 0
		put := func(l *queue[int], key string) {
			version++
			if r := l.get(key); r != nil {
				r.append(added(version))
			} else {
				l.push(newRecord(key, added(version)))
			}
		}
		model := func(key string) {
			if !slices.Contains(order, key) {
				order = append(order, key)
			}
			values[key] = append(values[key], version)
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k := key.Draw(t, "key")
				put(l, k)
				model(k)
			},
			"take": func(t *rapid.T) {
				if len(order) == 0 {
					return
				}
				r := l.pop()
				assert.Equal(t, order[0], r.key)
				assert.Equal(t, values[r.key], objects(r))
				delete(values, r.key)
				order = order[1:]
			},
			"drop": func(t *rapid.T) {
				k := key.Draw(t, "key")
				l.remove(k)
				delete(values, k)
				order = slices.DeleteFunc(order, func(o string) bool { return o == k })
			},
			"absorb": func(t *rapid.T) {
				other := newQueue[int](0)
				for _, k := range rapid.SliceOfDistinct(key, rapid.ID).Draw(t, "keys") {
					put(other, k)
					model(k)
				}
				l.absorb(other, func(mine, theirs *record[int]) {
					for _, d := range theirs.deltas {
						mine.append(d)
					}
				})
			},
			"": func(t *rapid.T) {
				if err := l.check(); err != nil {
					t.Fatal(err)
				}
				assert.Equal(t, len(order), l.len())
				assert.Equal(t, order, l.keys())
				for k := range values {
					assert.Equal(t, values[k], objects(l.get(k)))
				}
			},
		})
	})
}

func objects(r *record[int]) []int {
	var out []int
	for _, d := range r.deltas {
		out = append(out, d.Object)
	}
	return out
}
