package reflector_test

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
	"orrery/restclient/api"
)

// TestScenarios runs the files in testdata. Each is an incident: commands to a fake API server and a Reflector,
// and below the line what is seen of both, with the time since the beginning. `go test -rewrite` writes the second half.
//
// A command is a line; several may follow each other. The commands:
//
//	config key=value ...     (before run) page-size, idle, resync, internal-budget, streaming, jitter
//	server key=value ...     streaming=supported|refused|ignored|no-bookmark, paging=always, latency=1s
//	add|modify|delete|lose NAME ..., touch
//	fail-list|fail-watch FAULT ...   one for each of the next requests; "ok" lets one through
//	cut FAULT, error FAULT   end the open watches; send them an ERROR event
//	bookmark, initial-bookmark, silence, expire
//	fail-store OP ...        the next call of OP fails
//	hold, release            let requests wait
//	many N                   add N objects
//	add-every DURATION N     add N objects, one each DURATION
//	down DURATION            break the watches and refuse connections for that long; shows the delays only
//	run, stop, advance DURATION, snapshot, store
//
// A FAULT is eof, reset, refused, garbage, 429, 429/30s, a code such as 410, or a reason such as Expired.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScenario()
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
	store   *recordingStore
	release func()

	reflector *reflector.Reflector[*api.Namespace]
	cancel    context.CancelFunc
	done      chan struct{}

	journal
}

// journal collects what happens, line by line.
type journal struct {
	began time.Time

	mu    sync.Mutex // requests, store calls and hooks come from different goroutines
	lines []string
}

func (j *journal) note(format string, args ...any) {
	at := time.Since(j.began).Round(time.Millisecond)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%-7s %s", at, fmt.Sprintf(format, args...)))
}

func newScenario() *scenario {
	s := &scenario{source: informertest.NewNamespaceSource(), journal: journal{began: time.Now()}}
	s.store = &recordingStore{journal: &s.journal, content: map[string]*api.Namespace{}, fail: map[string]bool{}}
	s.config = reflector.Config[*api.Namespace]{
		Name:              "namespaces",
		ListerWatcher:     &recordingSource{s.source, &s.journal},
		Store:             s.store,
		KeyFunc:           func(ns *api.Namespace) (string, error) { return ns.Name, nil },
		DisableWatchList:  true,
		MinWatchTimeout:   24 * time.Hour, // the time limit of a watch is drawn by lot, so scenarios do without
		Backoff:           reflector.BackoffConfig{Jitter: -1},
		WatchErrorHandler: func(_ context.Context, err error) { s.note("! %s", describe(err)) },
		Trace:             s.trace(),
	}
	return s
}

func (s *scenario) trace() *reflector.Trace {
	return &reflector.Trace{
		BackOff:     func(d time.Duration, err error) { s.note("  back off %s: %s", d, describe(err)) },
		Expired:     func(rv string, _ error) { s.note("  the position %q is lost", rv) },
		IdleTimeout: func(d time.Duration) { s.note("  silent for %s", d) },
		StreamingListAbandoned: func(err error) {
			s.note("  no streaming list: %s", describe(err))
		},
		WatchEnded: func(w reflector.WatchInfo) {
			s.note("  watch closed at %q after %d events, %s", w.ResourceVersion, w.Events, w.Lasted)
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
	s.lines = nil
	for _, line := range append([]string{d.FullCmd()}, strings.Split(d.Input, "\n")...) {
		if words := strings.Fields(line); len(words) > 0 {
			s.command(t, words[0], words[1:])
			synctest.Wait()
		}
	}
	return strings.Join(s.lines, "\n")
}

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
		s.run()
	case "stop":
		s.stop()
	case "advance":
		time.Sleep(duration(t, args[0]))
	case "store":
		for _, key := range slices.Sorted(maps.Keys(s.store.content)) {
			s.note("%s@%s", key, s.store.content[key].ResourceVersion)
		}
	case "snapshot":
		shot := s.reflector.Snapshot()
		s.note("%s at %q, synced=%t, rounds=%d lists=%d watches=%d events=%d bookmarks=%d failures=%d", shot.Phase,
			shot.ResourceVersion, shot.Synced, shot.Rounds, shot.Lists, shot.Watches, shot.Events, shot.Bookmarks, shot.Failures)
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
	case "touch":
		s.source.Touch()
	case "fail-list":
		forEach(args, func(arg string) { s.source.FailList(fault(t, arg)) })
	case "fail-watch":
		forEach(args, func(arg string) { s.source.FailWatch(fault(t, arg)) })
	case "fail-store":
		forEach(args, func(arg string) { s.store.fail[arg] = true })
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

// down refuses connections for d and leaves of the journal only the delays.
func (s *scenario) down(d time.Duration) {
	over := time.Now().Add(d)
	s.source.FailWatch(slices.Repeat([]error{syscall.ECONNREFUSED}, int(d/time.Second))...)
	s.source.Cut(syscall.ECONNRESET)
	synctest.Wait()
	time.Sleep(time.Until(over))
	s.source.ClearFaults()
	var delays []string
	for _, line := range s.lines {
		if _, after, found := strings.Cut(line, "back off "); found {
			delay, _, _ := strings.Cut(after, ":")
			delays = append(delays, delay)
		}
	}
	s.lines = []string{strings.Join(delays, " ")}
}

func (s *scenario) configure(t *testing.T, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	switch key {
	case "page-size":
		size, err := strconv.Atoi(value)
		require.NoError(t, err)
		s.config.PageSize = int64(size)
	case "idle":
		s.config.IdleTimeout = duration(t, value)
	case "resync":
		s.config.ResyncPeriod = duration(t, value)
	case "internal-budget":
		s.config.MaxInternalErrorRetryDuration = duration(t, value)
	case "streaming":
		s.config.DisableWatchList = value == "off"
	default:
		t.Fatalf("unknown setting %q", key)
	}
}

func (s *scenario) setServer(t *testing.T, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	switch key {
	case "streaming":
		modes := map[string]informertest.StreamingList{
			"supported": informertest.StreamingSupported, "refused": informertest.StreamingRefused,
			"ignored": informertest.StreamingIgnored, "no-bookmark": informertest.StreamingWithoutBookmark}
		mode, known := modes[value]
		require.True(t, known, value)
		s.source.SetStreamingList(mode)
	case "paging":
		s.source.SetPaging(value == "always")
	case "latency":
		s.source.SetLatency(duration(t, value))
	default:
		t.Fatalf("unknown setting %q", key)
	}
}

func (s *scenario) run() {
	s.reflector = reflector.New(s.config)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan struct{})
	go func() {
		defer close(s.done)
		s.reflector.Run(ctx)
		s.note("stopped")
	}()
}

func (s *scenario) stop() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
		s.cancel = nil
	}
}

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

// fault makes an error of its name in a scenario.
func fault(t *testing.T, name string) error {
	name, after, _ := strings.Cut(name, "/")
	switch name {
	case "ok", "eof":
		return nil
	case "reset":
		return syscall.ECONNRESET
	case "refused":
		return syscall.ECONNREFUSED
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

// recordingSource notes the requests.
type recordingSource struct {
	*informertest.FakeSource[*api.Namespace]
	journal *journal
}

func (r *recordingSource) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	r.journal.note("LIST rv=%q%s", opts.ResourceVersion, options(opts))
	return r.FakeSource.List(ctx, opts)
}

func (r *recordingSource) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	r.journal.note("WATCH rv=%q%s", opts.ResourceVersion, options(opts))
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
	return out
}

// recordingStore is a store that notes its calls.
type recordingStore struct {
	journal *journal
	content map[string]*api.Namespace
	fail    map[string]bool
}

func (s *recordingStore) call(op, text string) error {
	if s.fail[op] {
		delete(s.fail, op)
		s.journal.note("  store.%s %s: failed", op, text)
		return errors.New("the store is full")
	}
	s.journal.note("  store.%s %s", op, text)
	return nil
}

func (s *recordingStore) put(op string, ns *api.Namespace) error {
	if err := s.call(op, ns.Name+"@"+ns.ResourceVersion); err != nil {
		return err
	}
	s.content[ns.Name] = ns
	return nil
}

func (s *recordingStore) Add(ns *api.Namespace) error    { return s.put("Add", ns) }
func (s *recordingStore) Update(ns *api.Namespace) error { return s.put("Update", ns) }

func (s *recordingStore) Delete(ns *api.Namespace) error {
	if err := s.call("Delete", ns.Name+"@"+ns.ResourceVersion); err != nil {
		return err
	}
	delete(s.content, ns.Name)
	return nil
}

func (s *recordingStore) Replace(items []*api.Namespace, rv string) error {
	names := make([]string, 0, len(items))
	for _, ns := range items {
		names = append(names, ns.Name)
	}
	if len(names) > 9 {
		names = []string{fmt.Sprintf("%d objects", len(names))}
	}
	if err := s.call("Replace", fmt.Sprintf("%v at %q", names, rv)); err != nil {
		return err
	}
	clear(s.content)
	for _, ns := range items {
		s.content[ns.Name] = ns
	}
	return nil
}

func (s *recordingStore) Resync() error { return s.call("Resync", "") }

func (s *recordingStore) Bookmark(rv string) { s.journal.note("  store.Bookmark %q", rv) }
