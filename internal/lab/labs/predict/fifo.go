package predict

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"orrery/deltafifo"
	"orrery/deltafifo/inorder"
	"orrery/indexer"
)

// fifo is a queue of either form with its consumer's store.
type fifo struct {
	deltafifo.Interface[*object]
	store *knownObjects
}

// knownObjects is a store that knows its version.
type knownObjects struct {
	*indexer.Store[*object]
	version string
}

// Bookmark is called by the queue in order of arrival.
func (k *knownObjects) Bookmark(resourceVersion string) { k.version = resourceVersion }

// newDeltaFIFO is the interpreter for deltafifo/fifo.go.
func newDeltaFIFO(context.Context) commands {
	store := &knownObjects{Store: indexer.New(indexer.Config[*object]{KeyFunc: keyOf})}
	config := deltafifo.Config[*object]{KeyFunc: keyOf, KnownObjects: store}
	return (&fifo{deltafifo.New(config), store}).commands()
}

// newRealFIFO is the interpreter for deltafifo/inorder/fifo.go.
func newRealFIFO(context.Context) commands {
	store := &knownObjects{Store: indexer.New(indexer.Config[*object]{KeyFunc: keyOf})}
	queue := inorder.New(deltafifo.Config[*object]{KeyFunc: keyOf, KnownObjects: store})
	f := &fifo{queue, store}
	table := f.commands()
	table["bookmark VERSION"] = func(args ...string) (string, error) {
		queue.Bookmark(args[0])
		return "", nil
	}
	table["pops-until-version VERSION"] = func(args ...string) (string, error) {
		pops := 0
		for ; store.version != args[0]; pops++ {
			if _, err := f.pop(nil); err != nil {
				return "", err
			}
		}
		return strconv.Itoa(pops), nil
	}
	// a list that arrives while the process function of a Pop runs; DeltaFIFO holds its lock then
	table["pop-while-list-arrives OBJECTS..."] = func(args ...string) (string, error) {
		return f.pop(func() error { return queue.Replace(parseObjects(args), "") })
	}
	return table
}

func (f *fifo) commands() commands {
	return commands{
		"store OBJECTS...": func(args ...string) (string, error) { return "", f.store.Replace(parseObjects(args), "") },
		"add OBJECT":       func(args ...string) (string, error) { return "", f.Add(parseObject(args[0])) },
		"update OBJECT":    func(args ...string) (string, error) { return "", f.Update(parseObject(args[0])) },
		"delete OBJECT":    func(args ...string) (string, error) { return "", f.Delete(parseObject(args[0])) },
		"list OBJECTS...":  func(args ...string) (string, error) { return "", f.Replace(parseObjects(args), "") },
		"resync":           func(...string) (string, error) { return "", f.Resync() },
		"pop":              func(...string) (string, error) { return f.pop(nil) },
		"pop-all": func(...string) (string, error) {
			return f.popAll(func(popped string) string { return popped })
		},
		// the content of the store after each pop
		"states": func(...string) (string, error) {
			return f.popAll(func(string) string { return f.content() })
		},
	}
}

// pop pops, calls meanwhile, applies the deltas to the store, and returns what was popped.
func (f *fifo) pop(meanwhile func() error) (popped string, err error) {
	if f.Len() == 0 {
		return "", fmt.Errorf("Pop would block")
	}
	_, err = f.Pop(func(key string, deltas deltafifo.Deltas[*object], _ bool) error {
		if meanwhile != nil {
			if err := meanwhile(); err != nil {
				return err
			}
		}
		popped = key + ":"
		for _, d := range deltas {
			popped += " " + deltaWord(d)
			if d.Type == deltafifo.Deleted {
				f.store.DeleteKey(key)
			} else if err := f.store.Add(d.Object); err != nil {
				return err
			}
		}
		return nil
	})
	return popped, err
}

// popAll pops until the queue is empty, and joins what say returns after each pop.
func (f *fifo) popAll(say func(popped string) string) (string, error) {
	var said []string
	for f.Len() > 0 {
		popped, err := f.pop(nil)
		if err != nil {
			return "", err
		}
		said = append(said, say(popped))
	}
	return list(said, "; "), nil
}

// content returns the objects of the store.
func (f *fifo) content() string {
	var words []string
	for _, o := range f.store.List() {
		words = append(words, o.String())
	}
	slices.Sort(words)
	return list(words, " ")
}

// deltaWord names a delta: its type, or Tombstone.
func deltaWord(d deltafifo.Delta[*object]) string {
	if d.Tombstone != nil {
		return "Tombstone"
	}
	return string(d.Type)
}
