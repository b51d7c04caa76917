package machine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

// runAndRecover runs the Reflector until it panics and returns with what.
func runAndRecover(f *fixture) (value any) {
	defer func() { value = recover() }()
	machine.New(f.config).Run(context.Background())
	return nil
}

// TestPanicsComeOutOfRun: whoever panics, Run panics with it on the goroutine of its caller, the other goroutine has
// ended and the watch is closed.
func TestPanicsComeOutOfRun(t *testing.T) {
	explode := func(op string) func(string) error {
		return func(called string) error {
			if called == op {
				panic(op + " panics")
			}
			return nil
		}
	}
	for name, prepare := range map[string]func(f *fixture){
		"List panics": func(f *fixture) {
			f.config.ListerWatcher = scripted{list: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
				panic("List panics")
			}}
		},
		"Replace panics": func(f *fixture) { f.store.onCall = explode("Replace") },
		"Add panics": func(f *fixture) {
			f.store.onCall = explode("Add")
			time.AfterFunc(time.Second, func() { f.source.Add(informertest.Namespace("a")) })
		},
		"a hook panics": func(f *fixture) {
			f.config.Trace = &reflector.Trace{WatchStarted: func(api.ListOptions) { panic("a hook panics") }}
		},
		"the handler panics": func(f *fixture) {
			f.source.FailList(assert.AnError)
			f.config.WatchErrorHandler = func(context.Context, error) { panic("the handler panics") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				prepare(f)
				assert.Equal(t, name, runAndRecover(f))
				assert.Zero(t, f.source.Watchers())
			})
		})
	}
}

// TestPanicOfAResync happens on the goroutine that keeps the time and is carried over, with the stack that shows where.
func TestPanicOfAResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.ResyncPeriod = time.Minute
		f.store.onCall = func(op string) error {
			if op == "Resync" {
				panic("the store is broken")
			}
			return nil
		}
		value := runAndRecover(f)
		crash, carried := value.(*machine.PanicError)
		require.True(t, carried, "%v", value)
		assert.Equal(t, "the store is broken", crash.Value)
		assert.Contains(t, crash.Error(), "panic_test.go")
		assert.Zero(t, f.source.Watchers())
	})
}
