package demo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/deltafifo"
	deltafifofast "orrery/deltafifo/fast"
	"orrery/deltafifo/inorder"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/story"
)

// serverEvent is one event of the server's history, and the version that it creates.
type serverEvent struct {
	kind    deltafifo.DeltaType
	name    string
	version int
}

// hotHistory is what happens on the server: hot changes all the time; a and b come in between.
var hotHistory = []*serverEvent{
	{deltafifo.Added, "hot", 1}, {deltafifo.Added, "a", 2}, {deltafifo.Updated, "hot", 3}, {deltafifo.Updated, "hot", 4},
	{deltafifo.Updated, "hot", 5}, {deltafifo.Updated, "hot", 6}, {deltafifo.Updated, "hot", 7}, {deltafifo.Updated, "hot", 8},
	{deltafifo.Updated, "hot", 9}, {deltafifo.Added, "b", 10}, {deltafifo.Updated, "a", 11}, {deltafifo.Updated, "hot", 12},
}

var twoQueues = Scene{
	Name:    "two-queues",
	Options: Options{Bare: true, Alone: true},
	play:    playTwoQueues,
}

func playTwoQueues(on *Stage, ctx context.Context) error {
	const arrival, turn = 100 * time.Millisecond, 700 * time.Millisecond
	config := deltafifo.Config[*serverEvent]{KeyFunc: func(e *serverEvent) (string, error) { return e.name, nil }}
	slotted := &consumer{teller: on.Teller, name: "DeltaFIFO", queue: deltafifo.New(config), store: map[string]int{}}
	ordered := &consumer{teller: on.Teller, name: "in order", queue: inorder.New(config), store: map[string]int{}}
	if on.Gears.Form("deltafifo") == gears.Fast {
		slotted.queue = deltafifofast.New(config)
	}
	both := []*consumer{slotted, ordered}
	for _, c := range both {
		defer context.AfterFunc(ctx, c.queue.Close)() // a Pop that waits ends with the scene
	}
	steps := []step{enter("twelve events arrive",
		"twelve events arrive at both queues; the consumers do not pop yet (artificial)")}
	for _, event := range hotHistory {
		steps = append(steps,
			tell(story.Server, "version %d: %s %s", event.version, event.name, strings.ToLower(string(event.kind))),
			func(*Stage, context.Context) error { return cmp.Or(slotted.add(event), ordered.add(event)) },
			pause(arrival))
	}
	steps = append(steps, enter("Pop by Pop",
		fmt.Sprintf("both consumers pop every %v (artificial), until their queues are empty", turn)))
	for range hotHistory { // one has a place for each event
		steps = append(steps,
			func(*Stage, context.Context) error { return cmp.Or(slotted.pop(), ordered.pop()) },
			pause(turn))
	}
	if err := script(steps...)(on, ctx); err != nil {
		return err
	}
	on.Teller.Update(func(s *story.State) {
		for _, c := range both {
			s.Figure(c.name, "%d Pops, b in the store after Pop %d; of %d states of the store, %d were of no version "+
				"of the server", c.pops, c.popsToB, c.states, c.foreign)
		}
	})
	n := len(hotHistory)
	return cmp.Or(
		bench.Prove("Pops of the DeltaFIFO", 3, slotted.pops), bench.Prove("Pops in order", n, ordered.pops),
		bench.Prove("states of no version, DeltaFIFO", 10, slotted.foreign), bench.Prove("states of no version, in order", 0, ordered.foreign),
		bench.Prove("Pops until b, DeltaFIFO", 3, slotted.popsToB), bench.Prove("Pops until b, in order", 10, ordered.popsToB),
	)
}

// consumer pops a queue into a store, and compares the store with the server's history after each
// delta.
type consumer struct {
	teller *story.Teller
	name   string
	queue  deltafifo.Interface[*serverEvent]

	store           map[string]int // the version of each object
	pops, popsToB   int
	states, foreign int // of the store: all, and those that equalled no version of the server
}

func (c *consumer) add(e *serverEvent) (err error) {
	if e.kind == deltafifo.Added {
		err = c.queue.Add(e)
	} else {
		err = c.queue.Update(e)
	}
	c.show()
	return err
}

// pop pops once, if anything waits.
func (c *consumer) pop() error {
	if c.queue.Len() == 0 {
		return nil
	}
	_, err := c.queue.Pop(func(key string, d deltafifo.Deltas[*serverEvent], _ bool) error {
		c.pops++
		if key == "b" {
			c.popsToB = c.pops
		}
		for _, delta := range d {
			c.store[key] = delta.Object.version
			c.states++
			if c.version() == 0 {
				c.foreign++
			}
		}
		c.teller.Tell(story.FIFO, "%s, Pop %d: %s; store %s", c.name, c.pops, entryWord(key, d.Types()), c.state())
		return nil
	})
	c.show()
	return err
}

// version returns the version of the server that the store equals, 0 if there is none.
func (c *consumer) version() int {
	server := map[string]int{}
	for _, event := range hotHistory {
		server[event.name] = event.version
		if maps.Equal(server, c.store) {
			return event.version
		}
	}
	return 0
}

func (c *consumer) state() string {
	var objects []string
	for _, name := range slices.Sorted(maps.Keys(c.store)) {
		objects = append(objects, fmt.Sprintf("%s@%d", name, c.store[name]))
	}
	switch v := c.version(); {
	case len(objects) == 0:
		return "empty"
	case v > 0:
		return fmt.Sprintf("%s, version %d", strings.Join(objects, " "), v)
	}
	return strings.Join(objects, " ") + ", no version of the server"
}

// show draws the queue, a word for each entry and a letter for each delta, and the store.
func (c *consumer) show() {
	var words []string
	for _, entry := range c.queue.Snapshot().Waiting {
		words = append(words, entryWord(entry.Key, entry.Types))
	}
	c.teller.Update(func(s *story.State) {
		s.Show(c.name, "%s", strings.Join(words, " "))
		s.Show("store, "+c.name, "%s", c.state())
		s.Show("Pops, "+c.name, "%d", c.pops)
	})
}

// entryWord is a key with a letter for each of its deltas.
func entryWord(key string, types []deltafifo.DeltaType) string {
	for _, kind := range types {
		key += string(kind[0])
	}
	return key
}
