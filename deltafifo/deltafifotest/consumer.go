package deltafifotest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"orrery/deltafifo"
)

// Consumer is the store behind a queue, with a handler that keeps a journal. Its zero value is
// ready to use. Like an informer, it lets the store, not the delta's type, decide whether a change
// is an addition or an update. Its methods are safe for concurrent use.
type Consumer struct {
	mu      sync.Mutex
	objects map[string]*Object
	journal []string
}

// NewConsumer returns a new Consumer that holds these objects and has an empty journal.
func NewConsumer(objects ...*Object) *Consumer {
	c := &Consumer{objects: make(map[string]*Object)}
	for _, o := range objects {
		c.objects[o.Name] = o
	}
	return c
}

// Process applies the deltas to the store; pass it to Pop.
func (c *Consumer) Process(key string, deltas deltafifo.Deltas[*Object], _ bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects == nil {
		c.objects = make(map[string]*Object)
	}
	for _, d := range deltas {
		old, known := c.objects[key]
		switch {
		case d.Type == deltafifo.Deleted:
			delete(c.objects, key)
			c.journal = append(c.journal, fmt.Sprintf("delete %s", d.Object))
		case known:
			c.objects[key] = d.Object
			c.journal = append(c.journal, fmt.Sprintf("update %s %s", old, d.Object))
		default:
			c.objects[key] = d.Object
			c.journal = append(c.journal, fmt.Sprintf("add %s", d.Object))
		}
	}
	return nil
}

// ListKeys returns the keys of the store, sorted.
func (c *Consumer) ListKeys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := make([]string, 0, len(c.objects))
	for key := range c.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// GetByKey returns the object with this key, and whether there is one.
func (c *Consumer) GetByKey(key string) (*Object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.objects[key]
	return o, ok
}

// Objects returns the content of the store as text, sorted by key: "a@1".
func (c *Consumer) Objects() []string {
	texts := []string{}
	for _, key := range c.ListKeys() {
		if o, ok := c.GetByKey(key); ok {
			texts = append(texts, o.String())
		}
	}
	return texts
}

// Journal returns the handler's events so far: "add a@1", "update a@1 a@2", "delete a@2".
func (c *Consumer) Journal() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.journal)
}

// Object is an object of the tests: a name and a version of its state.
type Object struct {
	Name    string
	Version int
}

// String returns name@version, and "nothing" for a nil object.
func (o *Object) String() string {
	if o == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s@%d", o.Name, o.Version)
}

// Obj returns the object with this name and version.
func Obj(name string, version int) *Object { return &Object{Name: name, Version: version} }

// ErrNameless is the error of KeyFunc for an Object without a name.
var ErrNameless = errors.New("the object has no name")

// KeyFunc is the key function for Objects: the name, or ErrNameless.
func KeyFunc(o *Object) (string, error) {
	if o.Name == "" {
		return "", ErrNameless
	}
	return o.Name, nil
}

// Describe returns one delta as text: "Added a@1", or "Deleted a@1 (inferred)" for a tombstone.
func Describe(d deltafifo.Delta[*Object]) string {
	text := fmt.Sprintf("%s %s", d.Type, d.Object)
	if d.Tombstone != nil {
		text += " (inferred)"
	}
	return text
}

// DescribeAll returns deltas as text, oldest first: "Added a@1, Updated a@2".
func DescribeAll(deltas deltafifo.Deltas[*Object]) string {
	texts := make([]string, len(deltas))
	for i, d := range deltas {
		texts[i] = Describe(d)
	}
	return strings.Join(texts, ", ")
}
