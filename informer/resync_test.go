package informer_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// checks is a processor that records the checks for a resync.
type checks struct {
	informer.Processor[head]

	mu  sync.Mutex // guards the fields below
	at  []time.Time
	due []bool // whether a handler was due
}

func (c *checks) ShouldResync(now time.Time) (due int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	due = c.Processor.ShouldResync(now)
	c.at, c.due = append(c.at, now), append(c.due, due > 0)
	return due
}

// checked returns the gears with a processor that records its checks.
func checked(gears informer.Gears[head]) (informer.Gears[head], *checks) {
	c := &checks{Processor: gears.WithDefaults().NewProcessor()}
	gears.NewProcessor = func() informer.Processor[head] { return c }
	return gears, c
}

// TestResyncsOnARealClock: each check at least nine tenths of a period after the last resync brings
// one. The test judges the checks that were made, at the time that they were made: a busy machine
// makes them late, which breaks nothing. Many informers see more jitter in less time.
func TestResyncsOnARealClock(t *testing.T) {
	const period, informers, resyncs = time.Second, 20, 3
	type run struct {
		form   string
		checks *checks
		began  time.Time // when the handler had been added
	}
	runs := make(chan run, informers)
	for i := range informers {
		form := []string{"textbook", "fast"}[i%2]
		go func() {
			gears, checks := checked(forms[form].gears)
			source := informertest.NewContractSource()
			obj := &api.PartialObjectMetadata{}
			obj.Name = "a"
			source.Add(obj)
			inf := informer.NewSharedIndexInformer(source, informer.Config[head]{ResyncPeriod: period, Gears: gears})
			ctx, cancel := context.WithCancel(t.Context())
			updates := 0
			_, err := inf.AddEventHandler(informer.ResourceEventHandlerFuncs[head]{UpdateFunc: func(_, _ head) {
				if updates++; updates == resyncs {
					cancel()
				}
			}})
			began := time.Now()
			assert.NoError(t, err)
			assert.NoError(t, inf.Run(ctx))
			runs <- run{form, checks, began}
		}()
	}
	for range informers {
		run := <-runs
		last := run.began
		for i, at := range run.checks.at {
			since := at.Sub(last)
			want := since >= period*9/10
			assert.Equal(t, want, run.checks.due[i], "%s: a check %v after the last resync brings one", run.form, since)
			if run.checks.due[i] {
				last = at
			}
		}
	}
}
