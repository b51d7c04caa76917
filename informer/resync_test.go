package informer_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// checks is a processor that records the checks for a resync.
type checks struct {
	informer.Processor[head]
	late func(check int) time.Duration // how much later a check is made than it is; may be nil

	mu  sync.Mutex // guards the fields below
	at  []time.Time
	due []bool // whether a handler was due
}

func (c *checks) ShouldResync(now time.Time) (due int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late != nil {
		now = now.Add(c.late(len(c.at)))
	}
	due = c.Processor.ShouldResync(now)
	c.at, c.due = append(c.at, now), append(c.due, due > 0)
	return due
}

// checked returns the gears with a processor that records its checks.
func checked(gears informer.Gears[head], late func(check int) time.Duration) (informer.Gears[head], *checks) {
	c := &checks{Processor: gears.WithDefaults().NewProcessor(), late: late}
	gears.NewProcessor = func() informer.Processor[head] { return c }
	return gears, c
}

// TestResyncsWithJitter: no resync falls out because a check comes up to a twentieth of the period
// early or late. A bubble has no jitter of its own, so the test makes some.
func TestResyncsWithJitter(t *testing.T) {
	milliseconds := []time.Duration{300, 0, 500, 1, 0, 200, -400}
	late := func(check int) time.Duration { return milliseconds[check%len(milliseconds)] * time.Millisecond }
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gears, _ := checked(forms[name].gears, late)
				source := informertest.NewContractSource()
				addObject(source)
				cfg := informer.Config[head]{ResyncPeriod: 10 * time.Second, Gears: gears}
				inf := informer.NewSharedIndexInformer(source, cfg)
				updates := func(period time.Duration) *informertest.Recorder {
					r := &informertest.Recorder{}
					options := informer.HandlerOptions{ResyncPeriod: period}
					_, err := inf.AddEventHandlerWithOptions(eventHandler(r.Handle), options)
					require.NoError(t, err)
					return r
				}
				ten, twenty, twentyFive := updates(0), updates(20*time.Second), updates(25*time.Second)
				running(t, inf)
				time.Sleep(100*time.Second + 300*time.Millisecond) // between two checks
				added := updates(0)
				time.Sleep(60*time.Second + 200*time.Millisecond)
				synctest.Wait()
				assert.Len(t, ten.Events(), 1+16, "one resync each 10 s")
				assert.Len(t, twenty.Events(), 1+8, "one resync each 20 s")
				assert.Len(t, twentyFive.Events(), 1+5, "one resync each 30 s: rounded up to the checks")
				assert.Len(t, added.Events(), 1+6, "the first check, 9.7 s after its registration, is near enough")
			})
		})
	}
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
			gears, checks := checked(forms[form].gears, nil)
			source := informertest.NewContractSource()
			addObject(source)
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

func addObject(source *informertest.Source) {
	obj := &api.PartialObjectMetadata{}
	obj.Name = "a"
	source.Add(obj)
}
