package deltafifo_test

import (
	"errors"
	"fmt"

	"orrery/deltafifo"
)

// planet is an object: a key and a state.
type planet struct {
	Name  string
	Moons int
}

// sky is the consumer's store.
type sky map[string]*planet

func (s sky) ListKeys() []string {
	var keys []string
	for key := range s {
		keys = append(keys, key)
	}
	return keys
}

func (s sky) GetByKey(key string) (*planet, bool) {
	p, ok := s[key]
	return p, ok
}

// The life of a queue: a list, a watch, a broken connection, another list. As in an informer, the
// store decides whether a change is an addition or an update.
func Example() {
	store := sky{}
	queue := deltafifo.New(deltafifo.Config[*planet]{
		KeyFunc:      func(p *planet) (string, error) { return p.Name, nil },
		KnownObjects: store,
	})
	process := func(key string, deltas deltafifo.Deltas[*planet], isInInitialList bool) error {
		for _, d := range deltas {
			switch old, known := store[key]; {
			case d.Type == deltafifo.Deleted:
				delete(store, key)
				fmt.Printf("%s is gone (inferred: %t)\n", key, d.Tombstone != nil)
			case known:
				store[key] = d.Object
				fmt.Printf("%s had %d moons and has %d\n", key, old.Moons, d.Object.Moons)
			default:
				store[key] = d.Object
				fmt.Printf("%s is there (from the first list: %t)\n", key, isInInitialList)
			}
		}
		return nil
	}
	consume := func() {
		for queue.Len() > 0 {
			if _, err := queue.Pop(process); err != nil {
				fmt.Println(err)
			}
		}
	}

	_ = queue.Replace([]*planet{{"saturn", 145}, {"pluto", 5}}, "100")
	consume()
	fmt.Println("synced:", queue.HasSynced())

	_ = queue.Update(&planet{"saturn", 146}) // two changes, handed out together
	_ = queue.Update(&planet{"saturn", 274})
	consume()

	// The watch broke. Afterwards a list lacks pluto.
	_ = queue.Replace([]*planet{{"saturn", 274}}, "200")
	consume()

	queue.Close()
	_, err := queue.Pop(process)
	fmt.Println(errors.Is(err, deltafifo.ErrFIFOClosed))

	// Output:
	// saturn is there (from the first list: true)
	// pluto is there (from the first list: true)
	// synced: true
	// saturn had 145 moons and has 146
	// saturn had 146 moons and has 274
	// saturn had 274 moons and has 274
	// pluto is gone (inferred: true)
	// true
}

// A consumer that cannot process an object now requeues it. The object goes to the end of the
// queue, so the others do not wait for it.
func ExampleErrRequeue() {
	queue := deltafifo.New(deltafifo.Config[*planet]{
		KeyFunc: func(p *planet) (string, error) { return p.Name, nil },
	})
	_ = queue.Add(&planet{"venus", 0})
	_ = queue.Add(&planet{"mars", 2})

	cloudy := true
	for queue.Len() > 0 {
		_, err := queue.Pop(func(key string, _ deltafifo.Deltas[*planet], _ bool) error {
			if key == "venus" && cloudy {
				cloudy = false
				return &deltafifo.ErrRequeue{Err: errors.New("cannot see venus for clouds")}
			}
			fmt.Println("looked at", key)
			return nil
		})
		if err != nil {
			fmt.Println("error:", err)
		}
	}
	// Output:
	// error: cannot see venus for clouds
	// looked at mars
	// looked at venus
}

// Hooks observe the queue.
func ExampleTrace() {
	queue := deltafifo.New(deltafifo.Config[*planet]{
		KeyFunc: func(p *planet) (string, error) { return p.Name, nil },
		Trace: &deltafifo.Trace[*planet]{
			Queued: func(key string, d deltafifo.Delta[*planet], depth int) {
				fmt.Println(key, d.Type, "depth", depth)
			},
			Popped: func(key string, d deltafifo.Deltas[*planet], _ bool, depth int) {
				fmt.Println("out:", key, d.Types(), "depth", depth)
			},
		},
	})
	_ = queue.Add(&planet{"earth", 1})
	_ = queue.Update(&planet{"earth", 1})
	_, _ = queue.Pop(func(string, deltafifo.Deltas[*planet], bool) error { return nil })
	// Output:
	// earth Added depth 1
	// earth Updated depth 1
	// out: earth [Added Updated] depth 0
}
