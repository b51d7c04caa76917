package story

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/trace"
	"orrery/internal/words"
)

// parts returns rows for the gears that a scene on a bare stage follows.
func (s *State) parts() (rows []Row) {
	if len(s.Follow) == 0 || strings.HasPrefix(s.Follow[0], "restclient") {
		return nil
	}
	if !strings.HasPrefix(s.Follow[0], "queue") {
		for _, name := range slices.Sorted(maps.Keys(s.Run.Informers)) {
			rows = append(rows, s.informerRows(s.Run.Informers[name])...)
		}
		return rows
	}
	for _, name := range slices.Sorted(maps.Keys(s.Run.Queues)) {
		rows = append(rows, s.queueRows(s.Run.Queues[name])...)
	}
	return rows
}

// informerRows draw a queue of deltas, a letter for each, and what is behind it.
func (s *State) informerRows(i *trace.InformerState) []Row {
	var slots, handlers []string
	for _, slot := range i.FIFO.Waiting() {
		slots = append(slots, NameOf(slot.Key)+" "+slot.Deltas)
	}
	popped := ""
	if i.FIFO.InFlight != nil {
		popped = NameOf(i.FIFO.InFlight.Key) + " " + i.FIFO.InFlight.Deltas
	}
	var objects []string
	for _, key := range slices.Sorted(maps.Keys(i.Store.Objects)) {
		objects = append(objects, strings.TrimSpace(NameOf(key)+" "+i.Store.Objects[key]))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Handlers)) {
		h := i.Handlers[name]
		name, _, _ = strings.Cut(name, "#")
		handlers = append(handlers, fmt.Sprintf("%s %s", name, words.Count(h.Handled, "call")))
	}
	return []Row{
		{"reflector", i.Reflector.Phase}, {"slots", strings.Join(slots, ", ")}, {"popped", popped},
		{"store", strings.Join(objects, ", ")}, {"handlers", strings.Join(handlers, ", ")},
	}
}

// queueRows draw the sets of a work queue, its workers, and the delays that run down.
func (s *State) queueRows(q *trace.QueueState) []Row {
	waiting := names(q.Waiting())
	dirty, processing := slices.Clone(waiting), []string(nil)
	for _, key := range slices.Sorted(maps.Keys(q.Processing)) {
		processing = append(processing, NameOf(key))
		if q.Processing[key].Dirty {
			dirty = append(dirty, NameOf(key))
		}
	}
	workers := names(q.Slots())
	for i := range max(len(workers), s.Gears.Workers) {
		if i == len(workers) {
			workers = append(workers, "")
		}
		workers[i] = fmt.Sprintf("%d: %s", i+1, cmp.Or(workers[i], "idle"))
	}
	rows := []Row{
		{"dirty", strings.Join(dirty, "  ")}, {"queue", strings.Join(waiting, "  ")},
		{"processing", strings.Join(processing, "  ")}, {"workers", strings.Join(workers, "  ")},
		{"coalesced", fmt.Sprint(q.Coalesced)}, {"passes", fmt.Sprint(q.Done)},
	}
	const width = 24
	for _, key := range slices.Sorted(maps.Keys(q.Failures)) {
		delay := q.Delayed[key]
		left := max(0, s.since(delay.At+delay.Micros)-s.Elapsed)
		long := time.Duration(delay.Micros) * time.Microsecond
		rows = append(rows, Row{NameOf(key), fmt.Sprintf("%s %5.2f s of %-6s %s",
			Bar(int(left), int(long), width), left.Seconds(), Short(long), words.Count(q.Failures[key], "failure"))})
	}
	return rows
}

func names(keys []string) (names []string) {
	for _, key := range keys {
		names = append(names, NameOf(key))
	}
	return names
}

// NameOf returns a key without its namespace.
func NameOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
