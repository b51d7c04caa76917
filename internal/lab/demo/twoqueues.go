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
)

// serverEvent is one event of the server's history, and the version that it creates.
type serverEvent struct {
	name    string
	version int
}

// hotHistory has the name of the object that each version of the server has added or updated: hot
// changes all the time; a and b come in between.
var hotHistory = strings.Fields("hot a hot hot hot hot hot hot hot b a hot")

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
				on.Update(c.show)
			}
			return err
		}
	}
	steps := []step{enter("twelve events arrive at both queues; the consumers do not pop yet (artificial)")}
	for i, name := range hotHistory {
		queue, what := deltafifo.Interface[*serverEvent].Update, "updated"
		if !slices.Contains(hotHistory[:i], name) {
			queue, what = deltafifo.Interface[*serverEvent].Add, "added"
		}
		steps = append(steps,
			tell(Server, "version %d: %s %s", i+1, name, what),
			each(func(c *consumer, _ *Stage) error { return queue(c.queue, &serverEvent{name, i + 1}) }),
			pause(arrival))
	}
	steps = append(steps, enter(
		fmt.Sprintf("both consumers pop every %v (artificial), until their queues are empty", turn)))
	for range hotHistory { // one has a place for each event
		steps = append(steps, each((*consumer).pop), pause(turn))
	}
	steps = append(steps, conclude(func(_ *Stage, s *State) error {
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
		on.Tell(FIFO, "%s, Pop %d: %s; store %s", c.name, c.pops, entryWord(key, d.Types()), c.state())
		return nil
	})
	return err
}

// version returns the version of the server that the store equals, 0 if there is none.
func (c *consumer) version() int {
	server := map[string]int{}
	for i, name := range hotHistory {
		server[name] = i + 1
		if maps.Equal(server, c.store) {
			return i + 1
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
func (c *consumer) show(s *State) {
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
