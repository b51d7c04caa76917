package main

import (
	"fmt"
	"slices"
)

// Measures returns the project's targets in the order of the page. To add one, write its scenario
// for both sides, an entry here, and a section in texts/.
func Measures() []Measure {
	return []Measure{
		perOp("queue/cycle", "queue: Add, Get, Done", 0.6),
		value("queue/cycle allocs/op", "queue: Add, Get, Done: allocations", "allocs/op", 0).grain(0.01).quick(),
		perOp("queue/cycle-metrics", "queue: Add, Get, Done with metrics on", 0.55),
		higher("queue/pipeline processed/s", "queue: 4 producers, 4 workers, batches of 32", "1/s", 4),
		perOp("queue/add-after", "queue: AddAfter, 1M keys far in the future", 0.3),
		ratio("queue/add-after B/op", "queue: AddAfter: bytes", "B/op", 0.5).quick(),
		perOp("queue/add-rate-limited", "queue: AddRateLimited, exponential", 0.8),

		perOp("fifo/add-pop", "FIFO: Add and Pop side by side", 0.33),
		value("fifo/add-pop allocs/op", "FIFO: Add and Pop: allocations", "allocs/op", 2).grain(0.1).quick(),
		ratio("fifo/relist ms", "FIFO: relist of 100k", "ms", 0.3),
		value("fifo/relist lock-ms", "FIFO: longest wait of another Add", "ms", 10),

		perOp("store/update", "store: update with an index", 0.8),
		perOp("store/by-index", "store: ByIndex, 1000 of 100k", 0.2),
		higher("store/writes-with-readers writes/s", "store: writes while 4 readers list 100k", "1/s", 1000),

		ratio("dispatch/1 ns/event", "dispatch to 1 handler", "ns/event", 0.4),
		value("dispatch/1 allocs/event", "dispatch to 1 handler: allocations", "allocs/event", 2).grain(0.1).quick(),
		ratio("dispatch/16 ns/event", "dispatch to 16 handlers", "ns/event", 0.12),
		ratio("dispatch/idle p50", "one event, nothing else to do: p50", "ns", 0.7),
		ratio("dispatch/stalled-default live MiB", "100k updates, stalled handler: live heap", "MiB", 0.95),
		ratio("dispatch/stalled-coalescing live MiB", "100k updates, stalled handler, coalescing", "MiB",
			0.2).over("dispatch/stalled-default"),

		ratio("sync/json cpu s", "sync of 100k pods, JSON: processor time", "s", 0.15),
		ratio("sync/json peak MiB", "sync of 100k pods, JSON: peak memory", "MiB", 0.35),
		ratio("sync/json live MiB", "sync of 100k pods, JSON: live heap", "MiB", 0.55),

		ratio("deletion/hundred s", "deletion of 100 namespaces", "s", 0.33),
		ratio("deletion/hundred requests", "deletion of 100 namespaces: requests", "requests", 0.55),
		ratio("deletion/empty ms", "deletion of an empty namespace", "ms", 0.15),
		value("deletion/empty requests", "deletion of an empty namespace: requests", "requests", 36).quick(),
		ratio("deletion/idle resident MiB", "process at rest: resident memory", "MiB", 0.28).of("deletion/hundred"),
	}
}

// Extras returns what is measured without a target: further figures of the same rounds,
// controller-runtime's priority queue, and client-go's newer FIFO.
func Extras() []Measure {
	extras := []Measure{
		higher("queue/pipeline-singly processed/s", "queue: 4 producers, 4 workers, without batches", "1/s", 0).shown(),
		ratio("dispatch/4 ns/event", "dispatch to 4 handlers", "ns/event", 0).shown(),
		ratio("dispatch/idle p99", "one event, nothing else to do: p99", "ns", 0).shown(),
		ratio("dispatch/idle asleep p50", "one event, everything asleep: p50", "ns", 0).shown(),
		ratio("dispatch/idle asleep p99", "one event, everything asleep: p99", "ns", 0).shown(),
		ratio("dispatch/16 allocs/event", "dispatch to 16 handlers: allocations", "allocs/event", 0).grain(0.01).shown(),
		ratio("dispatch/stalled-default-metadata live MiB", "100k updates of metadata, stalled handler", "MiB", 0).shown(),
		ratio("sync/json wall s", "sync of 100k pods, JSON: time", "s", 0).shown(),
		server("start ms", "lab serve and a control plane: start", "ms"),
		server("kubectl ms", "lab serve and a control plane: kubectl get", "ms"),
		server("resident MiB", "lab serve and a control plane: memory at rest", "MiB"),
	}
	for _, m := range Measures() {
		switch {
		case m.isOf("queue"):
			extras = append(extras, m.against(Priority))
		case m.isOf("fifo/add-pop"):
			extras = append(extras, m.against(RealFIFO).beside(InOrder)) // both keep every event
		}
	}
	return extras
}

// server returns a figure of the servers, which has neither a target nor a textbook form.
func server(figure, title, unit string) Measure {
	return ratio("server/start "+figure, title, unit, 0).shown().beside("")
}

// Only returns the selected measures: by a group ("queue"), a scenario ("queue/cycle") or a name
// ("queue/cycle ns/op"). It returns an error for a selection without a match.
func Only(measures []Measure, wanted []string) ([]Measure, error) {
	var chosen []Measure
	for _, m := range measures {
		if slices.ContainsFunc(wanted, m.matches) {
			chosen = append(chosen, m)
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(measures, func(m Measure) bool { return m.matches(w) }) {
			return nil, fmt.Errorf("there is no measure %q; -list names them all", w)
		}
	}
	return chosen, nil
}

// matches reports whether a name or a group selects the measure.
func (m Measure) matches(asked string) bool {
	scenario := m
	scenario.Scenario = m.title()
	return m.Name == asked || m.isOf(asked) || scenario.isOf(asked)
}
