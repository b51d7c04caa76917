package storebench

import (
	"fmt"
	"strconv"

	"orrery/internal/lab/bench"
)

// content is the expected content of a store, and the objects to be written.
type content[T any] struct {
	gear Gear[T]
	pods []bench.Pod
	keys []string
	// states are the objects in one or two states each: the event "object i has changed" brings the
	// other one. The number of a state is the pod's number, plus len(pods) for the second state.
	states  [2][]T
	current []uint8 // the state written last
	names   []string
}

// newContent makes n objects in namespaces of equal size. One of every `every` objects has a second
// state, so it can change; none if every is 0.
func newContent[T any](gear Gear[T], n, namespaces, every, payload int) *content[T] {
	c := &content[T]{gear: gear, pods: bench.MakePods(n, namespaces), current: make([]uint8, n)}
	for i := range c.pods {
		c.pods[i].Payload = payload
		c.keys = append(c.keys, c.pods[i].Key())
	}
	for i := range namespaces {
		c.names = append(c.names, bench.PodNamespace(i))
	}
	for state := range c.states {
		c.states[state] = make([]T, n)
		for i, p := range c.pods {
			if state == 0 || every > 0 && i%every == 0 {
				c.states[state][i] = gear.NewObject(p.As(int64(i + state*n)))
			}
		}
	}
	return c
}

// fill returns a store with all objects in their first state.
func (c *content[T]) fill() (Store[T], error) {
	store := c.gear.NewStore()
	clear(c.current)
	return store, store.Replace(c.states[0], "1")
}

// next returns the object of the next event for object i.
func (c *content[T]) next(i int) T {
	c.current[i] = 1 - c.current[i]
	return c.states[c.current[i]][i]
}

// prove checks that every read method shows every object in its current state.
func (c *content[T]) prove(store Store[T]) error {
	if err := c.proveList("List", len(c.pods), func(see func(T)) error { store.Each(see); return nil }); err != nil {
		return err
	}
	for i, name := range c.names {
		err := c.proveList("ByIndex "+name, c.inNamespace(i), func(see func(T)) error { return store.EachIn(name, see) })
		if err != nil {
			return err
		}
	}
	for i, key := range c.keys {
		obj, exists := store.Get(key)
		if !exists {
			return &bench.ProofError{What: "object found as " + key, Want: true, Got: exists}
		}
		if err := bench.Prove("state of "+key+" found by its key", c.number(i), c.gear.Number(obj)); err != nil {
			return err
		}
	}
	return nil
}

// named reports whether obj has the name of object i. Reading it brings the object into the
// processor's caches.
func (c *content[T]) named(i int, obj T) bool {
	namespace, name := c.gear.Name(obj)
	return namespace == c.pods[i].Namespace && name == c.pods[i].Name
}

// inNamespace returns the size of namespace i: pod k is in namespace k*n/len(pods), rounded down.
func (c *content[T]) inNamespace(i int) int {
	n := len(c.names)
	first := func(namespace int) int { return (len(c.pods)*namespace + n - 1) / n }
	return first(i+1) - first(i)
}

// number returns the number of the current state of object i.
func (c *content[T]) number(i int) int64 { return int64(i + int(c.current[i])*len(c.pods)) }

// proveList checks that each yields want different objects in their current state.
func (c *content[T]) proveList(what string, want int, each func(see func(T)) error) error {
	seen := make(map[int64]bool, want)
	var wrong error
	err := each(func(obj T) {
		number := c.gear.Number(obj)
		i := int(number) % len(c.pods)
		switch {
		case number < 0 || number != c.number(i):
			wrong = &bench.ProofError{What: what + ": current state of " + c.keys[max(i, 0)], Want: c.number(max(i, 0)), Got: number}
		case !c.named(i, obj):
			wrong = &bench.ProofError{What: what + ": name of the object with the number of " + c.keys[i], Want: true, Got: false}
		case seen[number]:
			wrong = &bench.ProofError{What: what + ": how often it shows " + c.keys[i], Want: 1, Got: 2}
		}
		seen[number] = true
	})
	switch {
	case err != nil:
		return err
	case wrong != nil:
		return wrong
	}
	return bench.Prove(what+": objects", want, len(seen))
}

// String describes the content in proofs.
func (c *content[T]) String() string {
	return fmt.Sprintf("%s objects in %d namespaces", strconv.Itoa(len(c.pods)), len(c.names))
}
