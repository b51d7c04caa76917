package logs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/internal/observe/logs"
	"orrery/restclient/api"
	"orrery/wait"
)

// A handler that panicked for each of a thousand events wrote two thousand lines.
func TestAHandlerThatAlwaysPanicsIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(depth int) (p *wait.Panic) {
			defer func() { p = wait.NewPanic(recover()) }()
			panic(errors.New(string(rune(depth))))
		}
		story := func(l *logs.Logger) {
			trace, handler := l.Informer(), informer.HandlerInfo{Informer: "pods", Handler: "h"}
			panicked := func(kind informer.EventKind, key string, depth int) {
				l.Panic("*errors.errorString", fail(depth).Stack)
				trace.HandlerPanicked(handler, kind, key, nil)
			}
			for i := range 100 {
				panicked(informer.EventUpdate, string(rune('a'+i)), i)
			}
			panicked(informer.EventDelete, "a", 0)
			time.Sleep(time.Minute)
			panicked(informer.EventUpdate, "b", 0)
		}
		all := messages(lines(t, 0, story))
		assert.Equal(t, []string{
			"panic in this program, continuing", "handler panicked", "panic in this program, continuing", "handler panicked",
			"panic in this program, continuing", "handler panicked",
		}, all)
	})
}

// A handler hangs for an hour. The log reports the handler, its event, the time, and the backlog
// a few times.
func TestAHandlerThatHangsIsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := lines(t, 0, func(l *logs.Logger) {
			release := make(chan struct{})
			source := informertest.NewNamespaceSource()
			inf := informer.NewSharedIndexInformer(source, informer.Config[*api.Namespace]{Name: "namespaces", Trace: l.Informer()})
			_, err := inf.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.Namespace]{
				AddFunc: func(*api.Namespace, bool) { <-release },
			}, informer.HandlerOptions{Name: "hangs"})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() { defer close(done); _ = inf.Run(ctx) }()
			for _, name := range []string{"a", "b", "c"} {
				synctest.Wait()
				source.Add(informertest.Namespace(name))
			}
			time.Sleep(time.Hour)
			close(release)
			cancel()
			<-done
		})
		require.Len(t, reported, 7)
		assert.Equal(t, map[string]any{
			"level": "warn", "message": "handler does not return", "informer": "namespaces", "handler": "hangs", "event": "add",
			"key": "a", "running_s": 60.0, "pending": 3.0,
		}, reported[1])
		assert.Equal(t, 32*60.0, reported[6]["running_s"])
	})
}
