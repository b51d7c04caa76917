package predict

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orrery/indexer"
)

// byNode is the index of the scripts.
const byNode = "node"

// newStore is the interpreter for indexer/store.go. "web=n1" is the object web on the node n1.
func newStore(context.Context) commands {
	store := indexer.New(indexer.Config[*object]{KeyFunc: keyOf, Indexers: indexer.Indexers[*object]{
		byNode: func(o *object) ([]string, error) { return []string{o.node}, nil },
	}})
	parse := func(word string) *object {
		name, node, _ := strings.Cut(word, "=")
		return &object{name: name, node: node}
	}
	return commands{
		"add OBJECT":    func(args ...string) (string, error) { return "", store.Add(parse(args[0])) },
		"update OBJECT": func(args ...string) (string, error) { return "", store.Update(parse(args[0])) },
		"delete NAME":   func(args ...string) (string, error) { return "", store.Delete(parse(args[0])) },
		// a handler changes the object that the store has
		"change-in-place OBJECT": func(args ...string) (string, error) {
			change := parse(args[0])
			stored, exists := store.GetByKey(change.name)
			if !exists {
				return "", fmt.Errorf("the store lacks %s", change.name)
			}
			stored.node = change.node
			return "", nil
		},
		"values": func(...string) (string, error) {
			return list(slices.Sorted(slices.Values(store.ListIndexFuncValues(byNode))), " "), nil
		},
		"keys-on NODE": func(args ...string) (string, error) {
			keys, err := store.IndexKeys(byNode, args[0])
			return list(keys, " "), err
		},
		"lengths-while-replacing OBJECTS TIMES": func(args ...string) (string, error) {
			n, err := strconv.Atoi(args[0])
			times, err2 := strconv.Atoi(args[1])
			if err != nil || err2 != nil {
				return "", fmt.Errorf("both words are numbers")
			}
			shortest, longest := lengthsWhileReplacing(store, n, times)
			return fmt.Sprintf("%d to %d", shortest, longest), nil
		},
	}
}

// lengthsWhileReplacing returns the shortest and the longest of the lists that a reader gets while
// a writer replaces n objects by n others, again and again.
func lengthsWhileReplacing(store *indexer.Store[*object], n, times int) (shortest, longest int) {
	replace := func(round int) {
		objects := make([]*object, n)
		for i := range objects {
			objects[i] = &object{name: fmt.Sprintf("%d-%d", round, i), node: "n1"}
		}
		_ = store.Replace(objects, "")
	}
	replace(0)
	var writer sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		defer close(done)
		for round := 1; round <= times; round++ {
			replace(round)
		}
	})
	defer writer.Wait()
	shortest = math.MaxInt
	for {
		length := len(store.List())
		shortest, longest = min(shortest, length), max(longest, length)
		select {
		case <-done:
			return shortest, longest
		default:
		}
	}
}
