package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/controller/gears"
	"orrery/indexer"
	"orrery/internal/lab/bench"
)

var index = Scene{
	Name:    "index",
	Options: Options{Bare: true, Alone: true},
	play: func(on *Stage, ctx context.Context) error {
		s := newNodeIndex(on.Gears)
		stale := 0 // what the next update leaves behind
		if on.Gears.Form("indexer") == gears.Textbook {
			stale = 1
		}
		const change = "a reader sets the node of the stored web-1 to n3, without a write to the store"
		return script(
			s.replace("web-1 n1", "web-2 n1", "db n2"),
			s.update("web-1 n2"),
			s.measure("after an update", 0),
			s.write(change, func() error {
				p, _ := s.store.GetByKey("web-1")
				p.node = "n3" // which a reader must never do
				return nil
			}),
			s.measure("after a change of the stored object", 1),
			s.update("web-1 n1"),
			s.measure("after the next update", stale),
			s.replace("web-1 n1", "web-2 n1", "db n2"),
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

func (s *nodeIndex) replace(pods ...string) step {
	var items []*pod
	for _, text := range pods {
		items = append(items, newPod(text))
	}
	return s.write("Replace stores the list and computes the whole index", func() error {
		return s.store.Replace(items, "1")
	})
}

func (s *nodeIndex) update(text string) step {
	p := newPod(text)
	now := fmt.Sprintf("Update stores a new object of %s, with node %s", p.name, p.node)
	return s.write(now, func() error { return s.store.Update(p) })
}

// write tells what happens, does it, shows the store and gives the reader time to look.
func (s *nodeIndex) write(now string, happens func() error) step {
	return script(enter(now), func(on *Stage, _ context.Context) error {
		if err := happens(); err != nil {
			return err
		}
		rows, _ := s.look()
		on.Update(func(state *State) {
			var sets []string
			for _, row := range rows {
				state.Show(row.Name, "%s", row.Text)
				sets = append(sets, row.Name+": "+row.Text)
			}
			state.Tell(Indexer, "%s", strings.Join(sets, "; "))
		})
		return nil
	}, pause(2*look))
}

// look reads the store: a row for the objects and one for each set, and the entries that are wrong.
func (s *nodeIndex) look() (rows []Row, wrong []string) {
	snapshot := s.store.Snapshot()
	var objects []string
	for _, key := range snapshot.Keys {
		p, _ := s.store.GetByKey(key)
		objects = append(objects, key+" says "+p.node)
	}
	rows = []Row{{Name: "objects", Text: strings.Join(objects, ", ")}}
	for _, node := range []string{"n1", "n2", "n3"} {
		keys := slices.Clone(snapshot.Indices["node"][node])
		for i, key := range keys {
			if p, _ := s.store.GetByKey(key); p.node != node {
				wrong = append(wrong, fmt.Sprintf("the set of %s has %s, whose object says %s", node, key, p.node))
				keys[i] = "! " + key
			}
		}
		rows = append(rows, Row{Name: "index " + node, Text: cmp.Or(strings.Join(keys, ", "), "no set")})
	}
	return rows, wrong
}

// measure records the wrong entries, whose number must be want.
func (s *nodeIndex) measure(when string, want int) step {
	return conclude(func(_ *Stage, state *State) error {
		_, wrong := s.look()
		state.Figure(when, "%d wrong: %s", len(wrong), cmp.Or(strings.Join(wrong, "; "), "the index is right"))
		return bench.Prove("wrong entries of the index "+when, want, len(wrong))
	})
}
