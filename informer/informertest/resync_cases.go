package informertest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
)

// after sleeps until the given time since the beginning of the case, and a little longer, so that
// everything due has happened.
func (b *bubble) after(d time.Duration) {
	time.Sleep(d)
	b.waitIdle()
}

// What a handler receives first, and with each resync.
const (
	first = "add ns/a=1 (initial)"
	again = "; update ns/a 1->1"
)

var resyncCases = append(cases([]script{
	{name: "each handler is resynced in its own period", resync: 10 * time.Second, handlers: "default never 15s",
		before: "set ns/a 1", steps: "after 45s", // 15 s are rounded up to the informer's checks
		want: first + again + again + again + again + " | " + first + " | " + first + again + again},
	{name: "a resync is for the handlers that are due, and a concurrent change for all",
		resync: 10 * time.Second, handlers: "default 20s never",
		before: "set ns/a 1", steps: "after 10.001s; set ns/a 2; after 10s; join default; after 1s",
		want: first + again + "; update ns/a 1->2; update ns/a 2->2 | " +
			first + "; update ns/a 1->2; update ns/a 2->2 | " +
			first + "; update ns/a 1->2 | add ns/a=2 (initial)"}, // no resync before the end of the first period
	{name: "an informer without resync never resyncs", handlers: "5s",
		before: "set ns/a 1", steps: "after 1h",
		want: first},
	{name: "before the start a short period makes the informer check more often",
		resync: time.Minute, handlers: "default 5s",
		before: "set ns/a 1", steps: "after 59s; set ns/a 2; after 2s", // a minute is not up after 55 s
		want: first + "; update ns/a 1->2; update ns/a 2->2 | " +
			first + strings.Repeat(again, 11) + "; update ns/a 1->2; update ns/a 2->2"},
	{name: "after the start it does not", resync: 10 * time.Second, handlers: "default",
		before: "set ns/a 1", steps: "after 5s; join 3s; after 26s", // 3 s are raised to 10 s
		want: first + again + again + again + " | " + first + again + again},
	{name: "no period is shorter than a second", resync: 10 * time.Second, handlers: "10ms",
		before: "set ns/a 1", steps: "after 3.5s",
		want: first + again + again + again},
	{name: "an unchanged list causes no events", resync: time.Hour, handlers: "default never",
		before: "set ns/a 1", steps: "disconnect; relist",
		want: first + " | " + first, relisted: "update ns/a 1->1"},
	{name: "a resync does not bring a deleted object back", resync: time.Second, handlers: "default",
		before: "set ns/a 1", steps: "after 1.5s; delete ns/a; after 5s",
		want: first + again + "; delete ns/a=1"},
	{name: "a removed handler is not resynced", resync: time.Second, handlers: "default",
		before: "set ns/a 1", steps: "after 1.5s; remove 0; after 10s",
		want: first + again},
}), []contractCase{
	{"a period that ends between two checks is due at the next check, and restarts there", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 5 * time.Second})
		began := time.Now()
		var due []time.Duration
		_, err := b.informer.AddEventHandler(func(e Event) {
			if e.Kind == "update" {
				due = append(due, time.Since(began))
			}
		}, 7*time.Second)
		assert.NoError(b, err)
		b.start()
		b.after(34 * time.Second)
		assert.Equal(b, []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}, due,
			"not 10, 15, 25, 30")
	}},
	// Defect 8.13 of client-go: each list restarts the timer of the resync.
	{"frequent lists", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 8 * time.Second})
		resyncing, plain := &Recorder{}, b.handler()
		_, err := b.informer.AddEventHandler(resyncing.Handle, 0)
		assert.NoError(b, err)
		b.start()
		for range 8 {
			b.unseen(func() {}) // takes five seconds
		}
		if b.has(ResyncsDespiteRelists) {
			assert.GreaterOrEqual(b, len(resyncing.Events()), 1+4)
			assert.Len(b, plain.Events(), 1)
		} else {
			assert.Equal(b, plain.Events(), resyncing.Events(), "the repeated list is no resync")
		}
	}},
}...)
