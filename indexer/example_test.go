package indexer_test

import (
	"errors"
	"fmt"
	"slices"

	"orrery/indexer"
)

type planet struct {
	Name  string
	Star  string
	Moons []string
}

// An index answers "which planets orbit this star?" and, with several values per object, "which
// planet has this moon?".
func Example() {
	store := indexer.New(indexer.Config[*planet]{
		KeyFunc: func(p *planet) (string, error) { return p.Name, nil },
		Indexers: indexer.Indexers[*planet]{
			"star": func(p *planet) ([]string, error) { return []string{p.Star}, nil },
			"moon": func(p *planet) ([]string, error) { return p.Moons, nil },
		},
	})
	_ = store.Add(&planet{Name: "mars", Star: "sun", Moons: []string{"phobos", "deimos"}})
	_ = store.Add(&planet{Name: "earth", Star: "sun", Moons: []string{"moon"}})
	_ = store.Add(&planet{Name: "kepler-186f", Star: "kepler-186"})

	keys, _ := store.IndexKeys("star", "sun")
	fmt.Println("around the sun:", keys)
	owners, _ := store.ByIndex("moon", "deimos")
	fmt.Println("owner of deimos:", owners[0].Name)

	// Objects are immutable: to change one, store a new one.
	mars, _ := store.GetByKey("mars")
	changed := *mars
	changed.Moons = slices.DeleteFunc(slices.Clone(mars.Moons), func(m string) bool { return m == "phobos" })
	_ = store.Update(&changed)

	owners, _ = store.ByIndex("moon", "phobos")
	fmt.Println("owners of phobos:", len(owners))
	fmt.Println("the old mars still has", len(mars.Moons), "moons")
	// Output:
	// around the sun: [earth mars]
	// owner of deimos: mars
	// owners of phobos: 0
	// the old mars still has 2 moons
}

// A loop over all objects sees the content as of its start, and may write.
func ExampleIndexer_All() {
	store := indexer.New(indexer.Config[string]{
		KeyFunc: func(s string) (string, error) { return s, nil },
	})
	_ = store.Replace([]string{"a", "b", "c"}, "1")

	seen := []string{}
	for key := range store.All() {
		seen = append(seen, key)
		_ = store.Add("copy of " + key)
	}
	slices.Sort(seen)
	fmt.Println(seen, store.Len())
	// Output: [a b c] 6
}

// A failing function affects only its own index, and the write returns the error.
func ExampleIndexError() {
	store := indexer.New(indexer.Config[string]{
		KeyFunc: func(s string) (string, error) { return s, nil },
		Indexers: indexer.Indexers[string]{
			"fifth letter": func(s string) ([]string, error) { return []string{s[4:5]}, nil },
		},
	})
	err := store.Add("sun")
	var failed *indexer.IndexError
	if errors.As(err, &failed) {
		fmt.Println(failed)
	}
	_, exists := store.GetByKey("sun")
	fmt.Println("stored:", exists)
	// Output:
	// index "fifth letter": no values for "sun": panic: runtime error: slice bounds out of range [:5] with length 3
	// stored: true
}
