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
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/informer"
	"orrery/queue"
	"orrery/wait"
)

// log records the passes of a pool with the time at which they began or ended.
type log struct {
	began time.Time

	mu    sync.Mutex
	lines []string
}

func newLog() *log { return &log{began: time.Now()} }

func (l *log) note(format string, arguments ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprint(time.Since(l.began).Round(time.Millisecond), " ")+fmt.Sprintf(format,
		arguments...))
}

// read returns the lines since the last call.
func (l *log) read() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (l *log) trace() *controller.PoolTrace {
	return &controller.PoolTrace{
		PassStarted: func(key string) { l.note("%s starts", key) },
		PassDone: func(key string, took time.Duration, failures int, after time.Duration, err error) {
			l.note("%s done: took %v, failures %d, after %v, err %v", key, took, failures, after, err)
		},
	}
}

// run starts a pool and returns the functions that end its two contexts, and a channel that is
// closed when Run has returned.
func run(t *testing.T, pool *controller.Pool) (stop, kill func(), ended <-chan struct{}) {
	t.Helper()
	stopped, stop := context.WithCancel(t.Context())
	alive, kill := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		pool.Run(stopped, alive)
	}()
	synctest.Wait()
	return stop, kill, done
}

// play runs a pool in a bubble until act returns, and records its passes.
func play(t *testing.T, config controller.PoolConfig, act func(pool *controller.Pool, l *log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		if config.Trace == nil {
			config.Trace = l.trace()
		}
		pool := controller.NewPool(config)
		stop, _, ended := run(t, pool)
		act(pool, l)
		stop()
		<-ended
	})
}

// later lets time pass, and what has become due happen.
func later(limit time.Duration) {
	time.Sleep(limit)
	synctest.Wait()
}

// notYet is the error of a pass that is repeated after ten seconds.
type notYet struct{}

func (notYet) Error() string               { return "not yet" }
func (notYet) RequeueAfter() time.Duration { return 10 * time.Second }

func TestAPassDecidesWhenTheNextOneIsDue(t *testing.T) {
	var results []func() (time.Duration, error)
	play(t, controller.PoolConfig{
		Workers: 1,
		Reconcile: func(context.Context, string) (time.Duration, error) {
			result := results[0]
			results = results[1:]
			return result()
		},
		RateLimiter: queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
	}, func(pool *controller.Pool, l *log) {
		results = []func() (time.Duration, error){
			func() (time.Duration, error) { return time.Hour, errors.New("no") },
			func() (time.Duration, error) { panic("broken") },
			func() (time.Duration, error) { return 10 * time.Second, nil },
			func() (time.Duration, error) { return 0, errors.New("again") },
			func() (time.Duration, error) { return 0, notYet{} },
			func() (time.Duration, error) { return 0, controller.Permanent(nil) },
		}
		pool.Add("a")
		later(time.Hour)
		assert.Equal(t, []string{
			"0s a starts", "0s a done: took 0s, failures 1, after 0s, err no",
			"1s a starts", "1s a done: took 0s, failures 2, after 0s, err panic: broken",
			"3s a starts", "3s a done: took 0s, failures 0, after 10s, err <nil>",
			"13s a starts", "13s a done: took 0s, failures 1, after 0s, err again",
			"14s a starts", "14s a done: took 0s, failures 1, after 10s, err not yet",
			"24s a starts", "24s a done: took 0s, failures 0, after 0s, err <nil>",
		}, l.read())
		assert.Empty(t, results)
	})
}

// A permanent error ends a row of failures, as success does.
func TestAPermanentErrorForgetsTheFailures(t *testing.T) {
	broken := errors.New("broken")
	results := []error{broken, broken, errors.Join(controller.Permanent(broken)), broken, nil}
	play(t, controller.PoolConfig{
		Workers: 1,
		Reconcile: func(context.Context, string) (time.Duration, error) {
			result := results[0]
			results = results[1:]
			return 0, result
		},
		RateLimiter: queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
	}, func(pool *controller.Pool, l *log) {
		pool.Add("a")
		time.Sleep(time.Minute)
		l.read()
		pool.Add("a")
		later(time.Minute)
		assert.Equal(t, []string{
			"1m0s a starts", "1m0s a done: took 0s, failures 1, after 0s, err broken",
			"1m1s a starts", "1m1s a done: took 0s, failures 0, after 0s, err <nil>",
		}, l.read(), "an event after a permanent error begins with the shortest back-off")
	})
}

// A hook that panics loses the report of a pass, but not the key.
func TestAHookThatPanicsCostsOneReport(t *testing.T) {
	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
	defer wait.PanicHandlers.Replace()()
	passes := 0
	play(t, controller.PoolConfig{
		Workers:   1,
		Reconcile: func(context.Context, string) (time.Duration, error) { passes++; return 0, nil },
		Trace: &controller.PoolTrace{PassDone: func(string, time.Duration, int, time.Duration, error) {
			if passes == 1 {
				panic("hook")
			}
		}},
	}, func(pool *controller.Pool, l *log) {
		pool.Add("a")
		synctest.Wait()
		pool.Add("a")
		later(time.Second)
		assert.Equal(t, 2, passes)
	})
}

func TestTheDefaultsOfAPool(t *testing.T) {
	hanging := func(ctx context.Context, _ string) (time.Duration, error) {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	synctest.Test(t, func(t *testing.T) {
		pool := controller.NewPool(controller.PoolConfig{
			Keys:      func() []string { return []string{"a", "b", "c", "d", "e", "f"} },
			Reconcile: hanging,
		})
		stop, _, ended := run(t, pool)
		began := time.Now()
		assert.Len(t, pool.Snapshot().Active, 5, "workers")
		later(2*time.Minute - time.Millisecond)
		assert.NotContains(t, pool.Snapshot().Active, "f", "a pass may take two minutes")
		later(time.Millisecond)
		assert.Contains(t, pool.Snapshot().Active, "f", "and no more")
		stop()
		<-ended
		assert.Equal(t, 2*time.Minute+20*time.Second, time.Since(began), "the drain")
	})
	synctest.Test(t, func(t *testing.T) {
		var pauses []time.Duration
		last := time.Now()
		pool := controller.NewPool(controller.PoolConfig{
			Keys: func() []string { return []string{"a"} },
			Reconcile: func(context.Context, string) (time.Duration, error) {
				pauses = append(pauses, time.Since(last))
				last = time.Now()
				return 0, errors.New("no")
			},
		})
		stop, _, ended := run(t, pool)
		time.Sleep(10 * time.Minute)
		stop()
		<-ended
		first := []time.Duration{0, 5 * time.Millisecond, 10 * time.Millisecond}
		assert.Equal(t, first, pauses[:3], "the first retries")
		assert.Equal(t, time.Minute, pauses[len(pauses)-1], "the longest pause")
	})
}

func TestAPassHasATimeLimit(t *testing.T) {
	var deaf chan struct{}
	play(t, controller.PoolConfig{
		Workers:     2,
		PassTimeout: time.Minute,
		Reconcile: func(ctx context.Context, key string) (time.Duration, error) {
			if key == "deaf" {
				<-deaf
				return 0, nil
			}
			<-ctx.Done()
			return 0, ctx.Err()
		},
		RateLimiter: queue.NewItemExponentialFailureRateLimiter[string](time.Hour, time.Hour),
	}, func(pool *controller.Pool, l *log) {
		deaf = make(chan struct{})
		pool.Add("slow")
		pool.Add("deaf")
		later(2 * time.Minute)
		assert.Contains(t, l.read(), "1m0s slow done: took 1m0s, failures 1, after 0s, err "+
			controller.ErrPassTimeout.Error())
		assert.NoError(t, pool.Healthy())
		assert.Contains(t, pool.Snapshot().Active, "deaf")
		time.Sleep(time.Second)
		assert.EqualError(t, pool.Healthy(), "the pass of deaf has been under way for 2m1s")
		close(deaf)
		synctest.Wait()
		assert.NoError(t, pool.Healthy())
	})
}

// Who has heard that a pass is over hears no more that it is stuck.
func TestAPassIsDoneAfterTheReportThatItIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		trace := l.trace()
		trace.PassStuck = func(key string, running time.Duration, _ int) {
			l.note("%s is stuck for %v", key, running)
			time.Sleep(30 * time.Second)
			l.note("%s is reported", key)
		}
		pool := controller.NewPool(controller.PoolConfig{
			Keys:  func() []string { return []string{"a"} },
			Trace: trace,
			Reconcile: func(context.Context, string) (time.Duration, error) {
				time.Sleep(controller.StuckAfter + time.Second)
				return 0, nil
			},
		})
		stop, _, ended := run(t, pool)
		time.Sleep(time.Hour)
		stop()
		<-ended
		assert.Equal(t, []string{
			"0s a starts", "1m0s a is stuck for 1m0s", "1m30s a is reported",
			"1m30s a done: took 1m30s, failures 0, after 0s, err <nil>",
		}, l.read())
	})
}

func TestAPassThatSucceedsAfterItsTimeLimit(t *testing.T) {
	play(t, controller.PoolConfig{
		PassTimeout: time.Minute,
		Reconcile: func(context.Context, string) (time.Duration, error) {
			time.Sleep(90 * time.Second)
			return time.Hour, nil
		},
	}, func(pool *controller.Pool, l *log) {
		pool.Add("late")
		later(2 * time.Minute)
		assert.Equal(t, []string{"0s late starts", "1m30s late done: took 1m30s, failures 0, after 1h0m0s, err <nil>"},
			l.read(), "it has not failed")
	})
}

// A standby keeps no events and misses none: Run begins with the content of the store.
func TestAStandbyKeepsNoKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		var synced atomic.Bool
		there := []string{}
		pool := controller.NewPool(controller.PoolConfig{
			Name:      "standby",
			Reconcile: func(context.Context, string) (time.Duration, error) { return 0, nil },
			Keys:      func() []string { return there },
			Synced:    []informer.InformerSynced{synced.Load},
			Trace:     l.trace(),
			Workers:   1,
		})
		pool.Add("gone")
		assert.Empty(t, pool.Snapshot().Queue.Queued)
		assert.Equal(t, "standby", pool.Snapshot().Queue.Name)
		there = []string{"a", "b"}
		stop, _, ended := run(t, pool)
		assert.Empty(t, l.read(), "the store is not filled")
		synced.Store(true)
		time.Sleep(time.Second)
		pool.AddAfter("c", time.Second)
		later(2 * time.Second)
		lines := l.read()
		require.Len(t, lines, 6)
		assert.Contains(t, lines[0], "a starts")
		assert.Contains(t, lines[2], "b starts")
		assert.Contains(t, lines[4], "2s c starts")
		stop()
		<-ended
	})
}

// An object may appear after Run has read the store.
func TestNoEventIsMissedWhileRunBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		var pool *controller.Pool
		pool = controller.NewPool(controller.PoolConfig{
			Workers: 1,
			Trace:   l.trace(),
			Keys: func() []string {
				defer pool.Add("new")
				return []string{"old"}
			},
			Reconcile: func(context.Context, string) (time.Duration, error) { return 0, nil },
		})
		stop, _, ended := run(t, pool)
		lines := l.read()
		assert.Contains(t, lines, "0s old starts")
		assert.Contains(t, lines, "0s new starts")
		stop()
		<-ended
	})
}

// A leader may lose the Lease before it has listed, and a collection may be one that cannot be
// listed at all.
func TestAPoolThatIsStoppedBeforeItBegan(t *testing.T) {
	for _, stopped := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			pool := controller.NewPool(controller.PoolConfig{
				Reconcile: func(context.Context, string) (time.Duration, error) { panic("no worker may start") },
				Keys:      func() []string { return []string{"a"} },
				Synced:    []informer.InformerSynced{func() bool { return false }},
			})
			stop, kill, ended := run(t, pool)
			defer stop()
			defer kill()
			if stopped {
				stop()
			} else {
				kill()
			}
			time.Sleep(time.Second)
			select {
			case <-ended:
			default:
				t.Errorf("a pool that may not work any more waits for its store; it was stopped: %v", stopped)
			}
			assert.True(t, pool.Snapshot().Queue.ShuttingDown)
		})
	}
}

// busy returns a pool with one worker, which has the key "in hand", and another key that waits; a
// pass takes ten seconds.
func busy(l *log) *controller.Pool {
	return controller.NewPool(controller.PoolConfig{
		Workers:      1,
		DrainTimeout: 15 * time.Second,
		Trace:        l.trace(),
		Keys:         func() []string { return []string{"in hand", "waiting"} },
		Reconcile: func(ctx context.Context, _ string) (time.Duration, error) {
			return time.Hour, wait.Sleep(ctx, 10*time.Second)
		},
	})
}

func TestStopFinishesWhatIsQueuedForALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		stop, _, ended := run(t, busy(l))
		stop()
		<-ended
		assert.Equal(t, []string{
			"0s in hand starts", "10s in hand done: took 10s, failures 0, after 1h0m0s, err <nil>",
			"10s waiting starts", "15s waiting done: took 5s, failures 1, after 0s, err " +
				controller.ErrCutShort.Error(),
		}, l.read())
	})
}

func TestTheEndOfAliveCutsEverythingShort(t *testing.T) {
	for name, stopFirst := range map[string]bool{"at work": false, "while it drains": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				stop, kill, ended := run(t, busy(l))
				if stopFirst {
					stop()
				}
				time.Sleep(time.Second)
				kill()
				<-ended
				assert.Equal(t, []string{
					"0s in hand starts", "1s in hand done: took 1s, failures 1, after 0s, err context canceled",
				}, l.read())
				stop()
			})
		})
	}
}

type key struct{}

func TestTheContextOfAPass(t *testing.T) {
	var saw any
	play(t, controller.PoolConfig{
		Keys: func() []string { return []string{"a"} },
		Reconcile: func(ctx context.Context, _ string) (time.Duration, error) {
			saw = ctx.Value(key{})
			return 0, nil
		},
		Trace: &controller.PoolTrace{PassContext: func(ctx context.Context, name string) context.Context {
			return context.WithValue(ctx, key{}, name+"#1")
		}},
		NewQueue: func(limiter queue.RateLimiter[string],
			config queue.Config[string]) queue.ObservableInterface[string] {
			return queue.NewRateLimiting(limiter, config)
		},
	}, func(pool *controller.Pool, l *log) {
		pool.UpdateMetrics()
		assert.Equal(t, "a#1", saw)
	})
}
