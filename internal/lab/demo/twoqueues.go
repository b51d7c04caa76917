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
	{deltafifo.Added, "hot", 1}, {deltafifo.Added, "a", 2}, {deltafifo.Updated, "hot", 3},
	{deltafifo.Updated, "hot", 4},
	{deltafifo.Updated, "hot", 5}, {deltafifo.Updated, "hot", 6}, {deltafifo.Updated, "hot", 7},
	{deltafifo.Updated, "hot", 8},
	{deltafifo.Updated, "hot", 9}, {deltafifo.Added, "b", 10}, {deltafifo.Updated, "a", 11},
	{deltafifo.Updated, "hot", 12},
}

var twoQueues = Scene{
	Name:    "two-queues",
	Options: Options{Bare: true, Alone: true},
	play:    playTwoQueues,
}

func playTwoQueues(on *Stage, ctx context.Context) error {
	const arrival, turn = 100 * time.Millisecond, 700 * time.Millisecond
	config := deltafifo.Config[*serverEvent]{KeyFunc: func(e *serverEvent) (string, error) { return e.name, nil }}
	slotted := &consumer{name: "DeltaFIFO", queue: deltafifo.New(config), store: map[string]int{}}
	ordered := &consumer{name: "in order", queue: inorder.New(config), store: map[string]int{}}
	if on.Gears.Form("deltafifo") == gears.Fast {
		slotted.queue = deltafifofast.New(config)
	}
	both := []*consumer{slotted, ordered}
	for _, c := range both {
		defer context.AfterFunc(ctx, c.queue.Close)() // a Pop that waits ends with the scene
	}
	// each does the same with both consumers, and shows them.
	each := func(do func(c *consumer, on *Stage) error) step {
		return func(on *Stage, _ context.Context) (err error) {
			for _, c := range both {
				err = cmp.Or(err, do(c, on))
				on.Teller.Update(c.show)
			}
			return err
		}
	}
	steps := []step{enter("twelve events arrive at both queues; the consumers do not pop yet (artificial)")}
	for _, event := range hotHistory {
		steps = append(steps,
			tell(story.Server, "version %d: %s %s", event.version, event.name, strings.ToLower(string(event.kind))),
			each(func(c *consumer, _ *Stage) error {
				if event.kind == deltafifo.Added {
					return c.queue.Add(event)
				}
				return c.queue.Update(event)
			}),
			pause(arrival))
	}
	steps = append(steps, enter(fmt.Sprintf("both consumers pop every %v (artificial), until their queues are empty", turn)))
	for range hotHistory { // one has a place for each event
		steps = append(steps, each((*consumer).pop), pause(turn))
	}
	steps = append(steps, conclude(func(_ *Stage, s *story.State) error {
		for _, c := range both {
			s.Figure(c.name, "%d Pops, b in the store after Pop %d; of %d states of the store, %d were of no version "+
				"of the server", c.pops, c.popsToB, c.states, c.foreign)
		}
		return cmp.Or(
			bench.Prove("Pops of the DeltaFIFO", 3, slotted.pops), bench.Prove("Pops in order", 12, ordered.pops),
			bench.Prove("states of no version, DeltaFIFO", 10, slotted.foreign),
			bench.Prove("states of no version, in order", 0, ordered.foreign),
		)
	}))
	return script(steps...)(on, ctx)
}

// consumer pops a queue into a store, and compares the store with the server's history after each
// delta.
type consumer struct {
	name  string
	queue deltafifo.Interface[*serverEvent]

	store           map[string]int // the version of each object
	pops, popsToB   int
	states, foreign int // of the store: all, and those that equalled no version of the server
}

// pop pops once, if anything waits.
func (c *consumer) pop(on *Stage) error {
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
		on.Tell(story.FIFO, "%s, Pop %d: %s; store %s", c.name, c.pops, entryWord(key, d.Types()), c.state())
		return nil
	})
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
	if len(c.store) == 0 {
		return "empty"
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(c.store)) {
		text += fmt.Sprintf("%s@%d ", name, c.store[name])
	}
	if v := c.version(); v > 0 {
		return strings.TrimSpace(text) + fmt.Sprintf(", version %d", v)
	}
	return strings.TrimSpace(text) + ", no version of the server"
}

// show draws the queue, a word for each entry and a letter for each delta, and the store.
func (c *consumer) show(s *story.State) {
	var words []string
	for _, entry := range c.queue.Snapshot().Waiting {
		words = append(words, entryWord(entry.Key, entry.Types))
	}
	s.Show(c.name, "%s", strings.Join(words, " "))
	s.Show("store, "+c.name, "%s", c.state())
	s.Show("Pops, "+c.name, "%d", c.pops)
}

// entryWord is a key with a letter for each of its deltas.
func entryWord(key string, types []deltafifo.DeltaType) string {
	for _, kind := range types {
		key += string(kind[0])
	}
	return key
}
