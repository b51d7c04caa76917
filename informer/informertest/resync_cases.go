package informertest

import (
	"time"

	"github.com/stretchr/testify/assert"
)

// after sleeps until the given time since the beginning of the case, and a little longer, so that
// everything due has happened.
func (b *bubble) after(d time.Duration) {
	time.Sleep(d)
	b.waitIdle()
}

var resyncCases = []contractCase{
	{"each handler is resynced in its own period", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 10 * time.Second})
		ten, never, fifteen := b.resyncing(0), b.resyncing(-1), b.resyncing(15*time.Second)
		b.start()
		for _, h := range []*Recorder{ten, never, fifteen} {
			assert.Equal(b, []string{"add ns/a=1 (initial)"}, h.Events())
			h.Reset()
		}
		b.after(45 * time.Second)
		reminder := "update ns/a 1->1"
		assert.Equal(b, []string{reminder, reminder, reminder, reminder}, ten.Events())
		assert.Equal(b, []string{reminder, reminder}, fifteen.Events(), "at 20 s and at 40 s: rounded up to the informer's checks")
		assert.Empty(b, never.Events())
	}},
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
		assert.Equal(b, []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}, due, "not 10, 15, 25, 30")
	}},
	{"a resync is for the handlers that are due, and a concurrent change for all", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 10 * time.Second})
		ten, twenty, never := b.resyncing(0), b.resyncing(20*time.Second), b.resyncing(-1)
		b.start()
		b.after(10*time.Second + time.Millisecond)
		b.set("ns/a", "2")
		b.after(10 * time.Second)
		late := b.resyncing(0)
		b.after(time.Second)
		initial, change := "add ns/a=1 (initial)", "update ns/a 1->2"
		assert.Equal(b, []string{initial, "update ns/a 1->1", change, "update ns/a 2->2"}, ten.Events(), "every 10 s")
		assert.Equal(b, []string{initial, change, "update ns/a 2->2"}, twenty.Events(), "every 20 s")
		assert.Equal(b, []string{initial, change}, never.Events(), "never")
		assert.Equal(b, []string{"add ns/a=2 (initial)"}, late.Events(), "no resync before the end of the first period")
	}},
	{"an informer without resync never resyncs", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{})
		h := b.resyncing(5 * time.Second)
		b.start()
		b.after(time.Hour)
		assert.Equal(b, []string{"add ns/a=1 (initial)"}, h.Events())
	}},
	{"before the start a short period makes the informer check more often", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: time.Minute})
		minute, short := b.resyncing(0), b.resyncing(5*time.Second)
		b.start()
		b.after(61 * time.Second)
		assert.Len(b, short.Events(), 1+12)
		assert.Len(b, minute.Events(), 1+1)
	}},
	{"after the start it does not", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 10 * time.Second})
		b.start()
		short := b.resyncing(3 * time.Second)
		b.after(31 * time.Second)
		assert.Len(b, short.Events(), 1+3)
	}},
	{"no period is shorter than a second", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 10 * time.Second})
		h := b.resyncing(10 * time.Millisecond)
		b.start()
		b.after(3500 * time.Millisecond)
		assert.Len(b, h.Events(), 1+3)
	}},
	{"an unchanged list causes no events", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: time.Hour})
		resyncing, plain := b.resyncing(0), b.handler()
		b.start()
		b.unseen(func() {})
		want := []string{"add ns/a=1 (initial)"}
		if !b.has(QuietRelists) {
			want = append(want, "update ns/a 1->1")
		}
		assert.Equal(b, want, resyncing.Events())
		assert.Equal(b, want, plain.Events())
	}},
	{"frequent lists", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: 8 * time.Second})
		resyncing, plain := b.resyncing(0), b.handler()
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
	{"a resync does not bring a deleted object back", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: time.Second})
		h := b.resyncing(0)
		b.start()
		b.after(1500 * time.Millisecond)
		b.source.Delete("ns/a")
		b.after(5 * time.Second)
		assert.Equal(b, []string{"add ns/a=1 (initial)", "update ns/a 1->1", "delete ns/a=1"}, h.Events())
	}},
	{"a removed handler is not resynced", func(b *bubble) {
		b.set("ns/a", "1")
		b.make(InformerConfig{ResyncPeriod: time.Second})
		h := &Recorder{}
		registration, err := b.informer.AddEventHandler(h.Handle, 0)
		assert.NoError(b, err)
		b.start()
		b.after(1500 * time.Millisecond)
		assert.NoError(b, b.informer.RemoveEventHandler(registration))
		b.after(10 * time.Second)
		assert.Len(b, h.Events(), 1+1)
	}},
}
