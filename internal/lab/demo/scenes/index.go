package scenes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/controller/gears"
	"orrery/indexer"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
)

var index = Scene{
	Name:    "index",
	Summary: "a pod moves between two sets, and then a reader changes a stored object",
	Happens: "A store has three pods and an index by node. One pod moves to another node: first by an update, then because a reader changes the stored object.",
	Look:    "Watch the sets of the index beside the objects. An entry with ! does not say what its object says.",
	Lesson: display.Lesson{
		Learnt: []string{
			"An index has a set of keys for each value. A write to the store moves the key from the old set to the new one, and an empty set is removed.",
			"The store computes the entries of an object when it is stored. A reader that changes the stored object writes nothing to the store, so the index is wrong from then on.",
			"At the next write the textbook store computes the old values again, from the changed object. It removes the key from the wrong set, and a stale entry stays until a list replaces everything. The fast store remembers the sets of each key.",
			"To change an object, make a copy, change the copy and send it to the server. The store gets it with the next event.",
		},
		Read: []display.Reading{
			{File: "indexer/doc.go", Why: "the rule, and what a store guarantees"},
			{Gear: "indexer", Form: gears.Textbook, File: "indexer/store.go", Why: "updateIndices moves a key between two sets"},
			{Gear: "indexer", Form: gears.Fast, File: "indexer/fast/index.go", Why: "records that know the places of their object"},
			{File: "informer/mutation.go", Why: "the detector of changed objects"},
			{File: "workshop/labs/03-store/README.md", Why: "the lab in which you write this store"},
		},
	},
	Options: stage.Options{Bare: true, Alone: true},
	play: func(on *stage.Stage, ctx context.Context) error {
		s := newNodeIndex(on.Gears())
		stale := 0 // what the next update leaves behind
		if on.Gears().Form("indexer") == gears.Textbook {
			stale = 1
		}
		return script(
			s.replace("the first list", "web-1 n1", "web-2 n1", "db n2"),
			s.update("an update", "web-1 n2"),
			s.measure("after an update", 0),
			s.change("web-1", "n3"),
			s.measure("after a change of the stored object", 1),
			s.update("the next update", "web-1 n1"),
			s.measure("after the next update", stale),
			s.replace("a new list", "web-1 n1", "web-2 n1", "db n2"),
			s.measure("after a new list", 0),
		)(on, ctx)
	},
}

// pod is an object of the store, written as "name node".
type pod struct{ name, node string }

func newPod(text string) *pod {
	name, node, _ := strings.Cut(text, " ")
	return &pod{name, node}
}

// nodeIndex is a store with an index by node.
type nodeIndex struct{ store indexer.Interface[*pod] }

func newNodeIndex(set gears.Set) *nodeIndex {
	config := indexer.Config[*pod]{
		KeyFunc:  func(p *pod) (string, error) { return p.name, nil },
		Indexers: indexer.Indexers[*pod]{"node": func(p *pod) ([]string, error) { return []string{p.node}, nil }},
	}
	return &nodeIndex{gears.Informer[*pod](set).WithDefaults().NewStore(config)}
}

func (s *nodeIndex) replace(name string, pods ...string) step {
	items := make([]*pod, len(pods))
	for i, text := range pods {
		items[i] = newPod(text)
	}
	return s.write(name, "Replace stores the list and computes the whole index", func() error {
		return s.store.Replace(items, "1")
	})
}

func (s *nodeIndex) update(name, text string) step {
	p := newPod(text)
	now := fmt.Sprintf("Update stores a new object of %s, with node %s", p.name, p.node)
	return s.write(name, now, func() error { return s.store.Update(p) })
}

// change changes a stored object in place, which a reader must never do.
func (s *nodeIndex) change(key, node string) step {
	const change = "a reader sets the node of the stored %s to %s, without a write to the store"
	return s.write("a reader changes a stored object", fmt.Sprintf(change, key, node), func() error {
		p, _ := s.store.GetByKey(key)
		p.node = node
		return nil
	})
}

// write tells what happens, does it, shows the store and gives the reader time to look.
func (s *nodeIndex) write(name, now string, happens func() error) step {
	return script(enter(name, now), func(on *stage.Stage, _ context.Context) error {
		if err := happens(); err != nil {
			return err
		}
		rows, _ := s.look()
		on.Teller().Update(func(state *story.State) {
			var sets []string
			for _, row := range rows {
				state.Show(row.Name, "%s", row.Text)
				sets = append(sets, row.Name+": "+row.Text)
			}
			state.Tell(story.Indexer, "%s", strings.Join(sets, "; "))
		})
		return nil
	}, pause(2*look))
}

// look reads the store: a row for the objects and one for each set, and the entries that are wrong.
func (s *nodeIndex) look() (rows []story.Row, wrong []string) {
	snapshot := s.store.Snapshot()
	var objects []string
	for _, key := range snapshot.Keys {
		p, _ := s.store.GetByKey(key)
		objects = append(objects, key+" says "+p.node)
	}
	rows = []story.Row{{Name: "objects", Text: strings.Join(objects, ", ")}}
	for _, node := range []string{"n1", "n2", "n3"} {
		keys := slices.Clone(snapshot.Indices["node"][node])
		for i, key := range keys {
			if p, _ := s.store.GetByKey(key); p.node != node {
				wrong = append(wrong, fmt.Sprintf("the set of %s has %s, whose object says %s", node, key, p.node))
				keys[i] = "! " + key
			}
		}
		text := "no set"
		if len(keys) > 0 {
			text = strings.Join(keys, ", ")
		}
		rows = append(rows, story.Row{Name: "index " + node, Text: text})
	}
	return rows, wrong
}

// measure records the wrong entries, whose number must be want.
func (s *nodeIndex) measure(when string, want int) step {
	return func(on *stage.Stage, _ context.Context) error {
		_, wrong := s.look()
		text := "the index is right"
		if len(wrong) > 0 {
			text = strings.Join(wrong, "; ")
		}
		on.Teller().Update(func(state *story.State) {
			state.Figure(when, "%d wrong: %s", len(wrong), text)
		})
		return bench.Prove("wrong entries of the index "+when, want, len(wrong))
	}
}
