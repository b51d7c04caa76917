package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/controller"
	"orrery/informer"
	"orrery/queue"
	"orrery/wait"
)

// key is that of a value in the context of a pass.
type key struct{}

// running is a pool that runs, and records its passes with the time at which they began or ended.
type running struct {
	*controller.Pool
	stop, kill func()        // end the contexts of Run
	ended      chan struct{} // closed when Run has returned
	began      time.Time

	mu    sync.Mutex
	lines []string
}

// play runs a pool in a bubble until act returns. With hooks of its own it records nothing.
func play(t *testing.T, config controller.PoolConfig, act func(p *running)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &running{ended: make(chan struct{}), began: time.Now()}
		trace := controller.PoolTrace{
			PassContext: func(ctx context.Context, name string) context.Context {
				return context.WithValue(ctx, key{}, name+"#1")
			},
			PassStarted: func(key string) { p.note("%s starts", key) },
			PassDone: func(key string, took time.Duration, failures int, after time.Duration, err error) {
				p.note("%s done: took %v, failures %d, after %v, err %v", key, took, failures, after, err)
			},
		}
		if config.Trace != nil {
			trace = *config.Trace
		}
		config.Trace = &trace
		p.Pool = controller.NewPool(config)
		var stopped, alive context.Context
		stopped, p.stop = context.WithCancel(t.Context())
		alive, p.kill = context.WithCancel(t.Context())
		go func() {
			defer close(p.ended)
			p.Run(stopped, alive)
		}()
		synctest.Wait()
		act(p)
		p.stop()
		<-p.ended
		p.kill()
	})
}

func (p *running) note(format string, arguments ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines,
		fmt.Sprint(time.Since(p.began).Round(time.Millisecond), " ")+fmt.Sprintf(format, arguments...))
}

// later lets time pass, and what has become due happen. It returns the lines since the last call.
func (p *running) later(limit time.Duration) []string {
	time.Sleep(limit)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	return lines
}

func keys(all ...string) func() []string { return func() []string { return all } }

func nothing(context.Context, string) (time.Duration, error) { return 0, nil }

// deaf ignores its context for 90 seconds.
func deaf(context.Context, string) (time.Duration, error) {
	time.Sleep(90 * time.Second)
	return time.Hour, nil
}

// hanging returns when its context has ended.
func hanging(ctx context.Context, _ string) (time.Duration, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// doubling retries after a second, two, four.
func doubling() queue.RateLimiter[string] {
	return queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute)
}

// notYet is the error of a pass that is repeated after ten seconds.
type notYet struct{}

func (notYet) Error() string               { return "not yet" }
func (notYet) RequeueAfter() time.Duration { return 10 * time.Second }

func TestAPassDecidesWhenTheNextOneIsDue(t *testing.T) {
	returns := func(after time.Duration, err error) func() (time.Duration, error) {
		return func() (time.Duration, error) { return after, err }
	}
	results := []func() (time.Duration, error){
		returns(time.Hour, errors.New("no")),
		func() (time.Duration, error) { panic("broken") },
		returns(10*time.Second, nil),
		returns(0, errors.New("again")),
		returns(0, notYet{}),
		returns(0, errors.Join(controller.Permanent(errors.New("for good")))),
		returns(0, errors.New("after that")),
		returns(0, controller.Permanent(nil)),
	}
	play(t, controller.PoolConfig{
		Reconcile: func(ctx context.Context, _ string) (time.Duration, error) {
			assert.Equal(t, "a#1", ctx.Value(key{}), "the context that the hook has returned")
			result := results[0]
			results = results[1:]
			return result()
		},
		RateLimiter: doubling(),
	}, func(p *running) {
		p.Add("a")
		assert.Equal(t, []string{
			"0s a starts", "0s a done: took 0s, failures 1, after 0s, err no",
			"1s a starts", "1s a done: took 0s, failures 2, after 0s, err panic: broken",
			"3s a starts", "3s a done: took 0s, failures 0, after 10s, err <nil>",
			"13s a starts", "13s a done: took 0s, failures 1, after 0s, err again",
			"14s a starts", "14s a done: took 0s, failures 1, after 10s, err not yet",
			"24s a starts", "24s a done: took 0s, failures 0, after 0s, err for good",
		}, p.later(time.Hour))
		p.Add("a")
		assert.Equal(t, []string{
			"1h0m0s a starts", "1h0m0s a done: took 0s, failures 1, after 0s, err after that",
			"1h0m1s a starts", "1h0m1s a done: took 0s, failures 0, after 0s, err <nil>",
		}, p.later(time.Hour), "an event after a permanent error begins with the shortest back-off")
	})
	assert.ErrorIs(t, controller.Permanent(context.Canceled), context.Canceled, "a permanent error keeps its cause")
}

func TestTheDefaultsOfAPool(t *testing.T) {
	play(t, controller.PoolConfig{Keys: keys("a", "b", "c", "d", "e", "f"), Reconcile: hanging}, func(p *running) {
		first := p.Snapshot().Active
		assert.Len(t, first, 5, "workers")
		p.UpdateMetrics() // there are none
		p.later(2*time.Minute - time.Millisecond)
		assert.NotContains(t, p.Snapshot().Active, "f", "a pass may take two minutes")
		p.later(time.Millisecond)
		assert.Contains(t, p.Snapshot().Active, "f", "and no more")
		assert.NotContains(t, first, "f", "a snapshot is a copy")
		p.stop()
		<-p.ended
		assert.Equal(t, 2*time.Minute+20*time.Second, time.Since(p.began), "the drain")
	})
	var passes []time.Time
	play(t, controller.PoolConfig{
		Keys: keys("a"),
		Reconcile: func(context.Context, string) (time.Duration, error) {
			passes = append(passes, time.Now())
			return 0, errors.New("no")
		},
	}, func(p *running) {
		p.later(10 * time.Minute)
		assert.Equal(t, 5*time.Millisecond, passes[1].Sub(passes[0]), "the first retry")
		assert.Equal(t, 10*time.Millisecond, passes[2].Sub(passes[1]))
		assert.Equal(t, time.Minute, passes[len(passes)-1].Sub(passes[len(passes)-2]), "the longest pause")
	})
}

func TestAPassHasATimeLimit(t *testing.T) {
	play(t, controller.PoolConfig{
		PassTimeout: time.Minute, Reconcile: hanging, RateLimiter: doubling(), Keys: keys("slow"),
	}, func(p *running) {
		assert.Equal(t, []string{"0s slow starts", "1m0s slow done: took 1m0s, failures 1, after 0s, err " +
			controller.ErrPassTimeout.Error()}, p.later(time.Minute))
	})
	limit := 40 * time.Second
	play(t, controller.PoolConfig{PassTimeout: limit, Reconcile: deaf, Keys: keys("deaf")}, func(p *running) {
		p.later(80 * time.Second)
		assert.NoError(t, p.Healthy())
		assert.Contains(t, p.Snapshot().Active, "deaf")
		p.later(time.Second)
		assert.EqualError(t, p.Healthy(), "the pass of deaf has been under way for 1m21s")
		assert.Equal(t, []string{"1m30s deaf done: took 1m30s, failures 0, after 1h0m0s, err <nil>"},
			p.later(9*time.Second), "it has not failed")
		assert.NoError(t, p.Healthy())
	})
}

// Who has heard that a pass is over hears no more that it is stuck.
func TestAPassIsDoneAfterTheReportThatItIsStuck(t *testing.T) {
	var said []string
	play(t, controller.PoolConfig{
		Keys: keys("a", "b"), Reconcile: hanging, Workers: 1, PassTimeout: 270 * time.Second,
		Trace: &controller.PoolTrace{
			PassStuck: func(key string, after time.Duration, waiting int) {
				said = append(said, fmt.Sprint(key, " is stuck for ", after, ", waiting: ", waiting))
				time.Sleep(45 * time.Second)
				said = append(said, "it is reported")
			},
			PassDone: func(_ string, took time.Duration, _ int, _ time.Duration, _ error) {
				said = append(said, fmt.Sprint("done after ", took))
			},
		},
	}, func(p *running) {
		p.later(5 * time.Minute)
		assert.Equal(t, []string{
			"a is stuck for 1m0s, waiting: 1", "it is reported", "a is stuck for 2m0s, waiting: 1", "it is reported",
			"a is stuck for 4m0s, waiting: 1", "it is reported", "done after 4m45s",
		}, said, "after a minute, and whenever that time has doubled")
	})
}

// A standby keeps no events and misses none: Run begins with the content of the store. An object
// may appear after Run has read the store.
func TestAStandbyKeepsNoKeys(t *testing.T) {
	var synced atomic.Bool
	var pool *controller.Pool
	due := map[string]time.Time{}
	play(t, controller.PoolConfig{
		Name: "standby", Reconcile: nothing, Synced: []informer.InformerSynced{synced.Load},
		Keys: func() []string {
			pool.Add("new")
			return []string{"old", "early"}
		},
		Delay: func(key string) time.Duration { return time.Until(due[key]) },
	}, func(p *running) {
		pool, due["early"] = p.Pool, time.Now().Add(time.Minute)
		p.Add("gone")
		assert.Empty(t, p.Snapshot().Queue.Queued)
		assert.Equal(t, "standby", p.Snapshot().Queue.Name)
		assert.Empty(t, p.later(0), "the store is not filled")
		synced.Store(true)
		lines := p.later(time.Second)
		assert.Len(t, lines, 4, "what has no Delay is worked on at once")
		assert.Contains(t, fmt.Sprint(lines), "old starts")
		assert.Contains(t, fmt.Sprint(lines), "new starts")
		p.AddAfter("c", time.Second)
		p.Add("early")
		assert.Equal(t, "2s c starts", p.later(time.Second)[0])
		assert.Contains(t, p.later(time.Minute), "1m0s early starts", "a key waits for its Delay in any case")
	})
}

// A leader may lose the Lease before it has listed, and a collection may be one that cannot be
// listed at all.
func TestAPoolThatIsStoppedBeforeItBegan(t *testing.T) {
	for name, end := range map[string]func(p *running){
		"stopped": func(p *running) { p.stop() }, "killed": func(p *running) { p.kill() },
	} {
		play(t, controller.PoolConfig{
			Reconcile: func(context.Context, string) (time.Duration, error) { panic("no worker may start") },
			Keys:      keys("a"),
			Synced:    []informer.InformerSynced{func() bool { return false }},
		}, func(p *running) {
			end(p)
			p.later(time.Second)
			select {
			case <-p.ended:
			default:
				t.Errorf("a pool that was %s waits for its store", name)
			}
			assert.True(t, p.Snapshot().Queue.ShuttingDown)
		})
	}
}

// busy is a pool with one worker, which has the key "in hand", and another key that waits; a pass
// takes ten seconds.
var busy = controller.PoolConfig{
	Workers:      1,
	DrainTimeout: 15 * time.Second,
	Keys:         keys("in hand", "waiting"),
	Reconcile: func(ctx context.Context, _ string) (time.Duration, error) {
		return time.Hour, wait.Sleep(ctx, 10*time.Second)
	},
}

func TestStopFinishesWhatIsQueuedForALimitedTime(t *testing.T) {
	play(t, busy, func(p *running) {
		p.stop()
		<-p.ended
		assert.Equal(t, []string{
			"0s in hand starts", "10s in hand done: took 10s, failures 0, after 1h0m0s, err <nil>",
			"10s waiting starts", "15s waiting done: took 5s, failures 1, after 0s, err " +
				controller.ErrCutShort.Error(),
		}, p.later(0))
	})
}

func TestTheEndOfAliveCutsEverythingShort(t *testing.T) {
	for _, draining := range []bool{false, true} {
		play(t, busy, func(p *running) {
			if draining {
				p.stop()
			}
			time.Sleep(time.Second)
			p.kill()
			<-p.ended
			assert.Equal(t, []string{
				"0s in hand starts", "1s in hand done: took 1s, failures 1, after 0s, err context canceled",
			}, p.later(0))
		})
	}
}
