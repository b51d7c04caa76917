package machine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

func (s *scenario) command(t *testing.T, name string, args []string) {
	switch name {
	case "config":
		for _, arg := range args {
			s.configure(t, arg)
		}
	case "server":
		for _, arg := range args {
			s.setServer(t, arg)
		}
	case "run":
		s.reflector = machine.New(s.config)
		s.run()
	case "again":
		s.run()
	case "stop":
		s.stop()
	case "advance":
		time.Sleep(duration(t, args[0]))
	case "store":
		versions := s.store.State()
		for _, key := range slices.Sorted(maps.Keys(versions)) {
			s.record("%s@%s", key, versions[key])
		}
	case "snapshot":
		shot := s.reflector.Snapshot()
		s.record("%s at %q, synced=%t, rounds=%d lists=%d watches=%d events=%d bookmarks=%d failures=%d", shot.Phase,
			shot.ResourceVersion, shot.Synced, shot.Rounds, shot.Lists, shot.Watches, shot.Events, shot.Bookmarks,
			shot.Failures)
	default:
		s.change(t, name, args)
	}
}

// change is a command to the server.
func (s *scenario) change(t *testing.T, name string, args []string) {
	switch name {
	case "add":
		forEach(args, func(arg string) { s.source.Add(informertest.Namespace(arg)) })
	case "modify":
		forEach(args, func(arg string) { s.source.Modify(informertest.Namespace(arg)) })
	case "delete":
		forEach(args, func(arg string) { require.True(t, s.source.Delete(arg)) })
	case "lose":
		forEach(args, s.source.Lose)
	case "bump":
		s.source.AdvanceVersion()
	case "fail-list":
		forEach(args, func(arg string) { s.source.FailList(fault(t, arg)) })
	case "fail-watch":
		forEach(args, func(arg string) { s.source.FailWatch(fault(t, arg)) })
	case "fail-store":
		forEach(args, s.failNext)
	case "cut":
		s.source.Cut(fault(t, args[0]))
	case "error":
		var status *api.StatusError
		require.ErrorAs(t, fault(t, args[0]), &status)
		s.source.SendError(status)
	case "bookmark":
		s.source.SendBookmark()
	case "initial-bookmark":
		s.source.SendInitialBookmark()
	case "silence":
		s.source.Silence()
	case "expire":
		s.source.Expire()
	case "many":
		n, err := strconv.Atoi(args[0])
		require.NoError(t, err)
		for i := range n {
			s.source.Add(informertest.Namespace(fmt.Sprintf("n%03d", i)))
		}
	case "add-every":
		n, err := strconv.Atoi(args[1])
		require.NoError(t, err)
		for i := range n {
			time.Sleep(duration(t, args[0]))
			s.source.Add(informertest.Namespace(fmt.Sprintf("n%03d", i)))
		}
	case "down":
		s.down(duration(t, args[0]))
	case "hold":
		s.release = s.source.Hold()
	case "release":
		s.release()
	default:
		t.Fatalf("unknown command %q", name)
	}
}

// down refuses connections for d and keeps only the delays in the journal.
func (s *scenario) down(d time.Duration) {
	over := time.Now().Add(d)
	s.source.FailWatch(slices.Repeat([]error{syscall.ECONNREFUSED}, int(d/time.Second))...)
	s.source.Cut(syscall.ECONNRESET)
	synctest.Wait()
	time.Sleep(time.Until(over))
	s.source.ClearFaults()
	var delays []string
	for _, line := range s.take() {
		if _, after, found := strings.Cut(line, "back off "); found {
			delay, _, _ := strings.Cut(after, ":")
			delays = append(delays, delay)
		}
	}
	s.record("delays of %s", strings.Join(delays, " "))
}

func (s *scenario) configure(t *testing.T, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	switch key {
	case "page-size":
		size, err := strconv.Atoi(value)
		require.NoError(t, err)
		s.config.PageSize = int64(size)
	case "max-items":
		n, err := strconv.Atoi(value)
		require.NoError(t, err)
		s.config.MaxItems = n
	case "idle":
		s.config.IdleTimeout = duration(t, value)
	case "resync":
		s.config.ResyncPeriod = duration(t, value)
	case "streaming":
		s.config.DisableWatchList = value == "off"
	default:
		t.Fatalf("unknown setting %q", key)
	}
}

func (s *scenario) setServer(t *testing.T, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	s.source.Change(func(b *informertest.Behaviour) {
		switch key {
		case "streaming":
			modes := map[string]informertest.StreamingList{
				"supported": informertest.StreamingSupported, "refused": informertest.StreamingRefused,
				"ignored": informertest.StreamingIgnored, "no-bookmark": informertest.StreamingWithoutBookmark}
			mode, known := modes[value]
			require.True(t, known, value)
			b.Streaming = mode
		case "paging":
			b.PageAlways = value == "always"
		case "keepalive":
			b.NoKeepalive = value == "no"
		case "endless":
			b.Endless = value == "yes"
		case "latency":
			b.Latency = duration(t, value)
		default:
			t.Fatalf("unknown setting %q", key)
		}
	})
}

func (s *scenario) run() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan struct{})
	go func() {
		defer close(s.done)
		s.reflector.Run(ctx)
		s.record("stopped")
	}()
}

func (s *scenario) stop() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
		s.cancel = nil
	}
}

// deadLink is the error of a connection whose ping was not answered.
type deadLink struct{}

func (deadLink) Error() string     { return "no answer to a ping" }
func (deadLink) Unreachable() bool { return true }

func forEach(args []string, do func(string)) {
	for _, arg := range args {
		do(arg)
	}
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// fault returns the error with that name in a scenario.
func fault(t *testing.T, name string) error {
	name, after, _ := strings.Cut(name, "/")
	switch name {
	case "ok", "eof":
		return nil
	case "reset":
		return syscall.ECONNRESET
	case "refused":
		return syscall.ECONNREFUSED
	case "dead":
		return deadLink{}
	case "garbage":
		return errors.New("unintelligible")
	case "too-large":
		return informertest.TooLargeResourceVersion(99, 1)
	}
	if code, err := strconv.Atoi(name); err == nil {
		status := informertest.StatusError(code, "", "the server says "+name)
		if after != "" {
			status.Status.Details = &api.StatusDetails{RetryAfterSeconds: int(duration(t, after).Seconds())}
			return api.NewStatusError(status.Status)
		}
		return status
	}
	return informertest.StatusError(0, api.StatusReason(name), "the server says "+name)
}
