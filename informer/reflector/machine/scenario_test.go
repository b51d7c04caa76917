package machine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

// TestScenarios runs the files in testdata. Each is an incident: commands to a fake API server and
// a Reflector, and below the line what is seen of both, with the time since the beginning. `go test
// -rewrite` writes the second half.
//
// A command is a line; several may follow each other. The commands:
//
//	config key=value ...     (before run) page-size, max-items, idle, resync, streaming
//	server key=value ...     streaming=supported|refused|ignored|no-bookmark, paging=always, latency=1s,
//	                         keepalive=no, endless=yes
//	add|modify|delete|lose NAME ..., bump
//	fail-list|fail-watch FAULT ...   one for each of the next requests; "ok" lets one through
//	cut FAULT, error FAULT   end the open watches; send them an ERROR event
//	bookmark, initial-bookmark, silence, expire
//	fail-store OP ...        the next call of OP fails
//	hold, release            let requests wait
//	many N                   add N objects
//	add-every DURATION N     add N objects, one each DURATION
//	down DURATION            break the watches and refuse connections for that long; shows the delays only
//	run, stop, again (the same reflector), advance DURATION, snapshot, store
//
// A FAULT is eof, reset, refused, dead, garbage, 429, 429/30s, a code such as 410, or a reason such
// as Expired.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScenario(t)
				defer s.stop()
				datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
					return s.script(t, d)
				})
			})
		})
	}
}

type scenario struct {
	config  reflector.Config[*api.Namespace]
	source  *informertest.FakeSource[*api.Namespace]
	store   *reflectortest.Memory
	fail    map[string]bool // the calls of the store that fail next; guarded by the journal
	release func()

	reflector *machine.Reflector[*api.Namespace]
	cancel    context.CancelFunc
	done      chan struct{}

	journal
}

// journal collects the observed calls, line by line.
type journal struct {
	began time.Time

	mu    sync.Mutex // requests, store calls and hooks come from different goroutines
	lines []string
}

func (j *journal) record(format string, args ...any) {
	at := time.Since(j.began).Round(time.Millisecond)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%-7s %s", at, fmt.Sprintf(format, args...)))
}

// take returns the lines since the last call.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

func newScenario(t *testing.T) *scenario {
	s := &scenario{
		source: informertest.NewNamespaceSource(), store: reflectortest.NewMemory(t),
		fail: map[string]bool{}, journal: journal{began: time.Now()},
	}
	s.store.OnCall = func(op string) error {
		if s.failing(op) {
			return errors.New("the store is full")
		}
		return nil
	}
	s.store.Record = func(op, arguments string, err error) {
		if err != nil {
			arguments += ": failed"
		}
		s.record("  store.%s %s", op, arguments)
	}
	s.config = reflector.Config[*api.Namespace]{
		Name:              "namespaces",
		ListerWatcher:     &recordingSource{s.source, &s.journal},
		Store:             s.store,
		KeyFunc:           func(ns *api.Namespace) (string, error) { return ns.Name, nil },
		DisableWatchList:  true,
		MinWatchTimeout:   24 * time.Hour, // the time limit of a watch is random, so scenarios do without
		Backoff:           reflector.BackoffConfig{Jitter: -1},
		WatchErrorHandler: func(_ context.Context, err error) { s.record("! %s", describe(err)) },
		Trace:             s.trace(),
	}
	return s
}

func (s *scenario) failing(op string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	failing := s.fail[op]
	delete(s.fail, op)
	return failing
}

// failNext makes the next call of op fail.
func (s *scenario) failNext(op string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail[op] = true
}

func (s *scenario) trace() *reflector.Trace {
	return &reflector.Trace{
		BackOff:     func(d time.Duration, err error) { s.record("  back off %s: %s", d, describe(err)) },
		Expired:     func(rv string, _ error) { s.record("  the position %q is lost", rv) },
		IdleTimeout: func(d time.Duration) { s.record("  silent for %s", d) },
		StreamingListAbandoned: func(err error) {
			s.record("  no streaming list: %s", describe(err))
		},
		WatchEnded: func(w reflector.WatchInfo) {
			s.record("  watch closed at %q after %d events, %s", w.ResourceVersion, w.Events, w.Lasted)
		},
	}
}

// describe shortens an error to its type and its cause.
func describe(err error) string {
	var (
		list  *reflector.ListError
		open  *reflector.WatchStartError
		watch *reflector.StreamError
		store *reflector.StoreError
	)
	switch {
	case errors.As(err, &list):
		return fmt.Sprintf("ListError (page %d): %v", list.Page, list.Err)
	case errors.As(err, &open):
		return fmt.Sprintf("WatchStartError: %v", open.Err)
	case errors.As(err, &watch):
		return fmt.Sprintf("StreamError: %v", watch.Err)
	case errors.As(err, &store):
		return fmt.Sprintf("StoreError (%s): %v", store.Op, store.Err)
	}
	return err.Error()
}

func (s *scenario) script(t *testing.T, d *datadriven.TestData) string {
	for _, line := range append([]string{d.FullCmd()}, strings.Split(d.Input, "\n")...) {
		if words := strings.Fields(line); len(words) > 0 {
			s.command(t, words[0], words[1:])
			synctest.Wait()
		}
	}
	return strings.Join(s.take(), "\n")
}

// recordingSource records the requests.
type recordingSource struct {
	*informertest.FakeSource[*api.Namespace]
	journal *journal
}

func (r *recordingSource) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	r.journal.record("LIST rv=%q%s", opts.ResourceVersion, options(opts))
	return r.FakeSource.List(ctx, opts)
}

func (r *recordingSource) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	r.journal.record("WATCH rv=%q%s", opts.ResourceVersion, options(opts))
	if isShort(opts) {
		opts.TimeoutSeconds = 36 // the mean of the random values
	}
	return r.FakeSource.Watch(ctx, opts)
}

func options(opts api.ListOptions) string {
	var out string
	if opts.ResourceVersionMatch != "" {
		out += " match=" + string(opts.ResourceVersionMatch)
	}
	if opts.Limit != 0 {
		out += fmt.Sprintf(" limit=%d", opts.Limit)
	}
	if opts.Continue != "" {
		out += " continue=" + opts.Continue
	}
	if opts.SendInitialEvents {
		out += " sendInitialEvents"
	}
	if isShort(opts) {
		out += " short"
	}
	return out
}

// isShort reports whether a watch has a limit of less than a minute. Its exact value is random.
func isShort(opts api.ListOptions) bool { return opts.TimeoutSeconds > 0 && opts.TimeoutSeconds < 60 }
