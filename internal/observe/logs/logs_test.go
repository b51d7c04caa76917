package logs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/controller/leaderelection"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/logs"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

type log = *logs.Logger

// lines calls a function with a logger in JSON format and returns the lines, without times.
func lines(t *testing.T, verbosity int, run func(log)) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	run(logs.New(logs.Config{Writer: &out, Format: logs.JSON, Verbosity: verbosity}))
	var all []map[string]any
	decoder := json.NewDecoder(&out)
	for {
		var line map[string]any
		err := decoder.Decode(&line)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		require.NotEmpty(t, line["time"])
		delete(line, "time")
		all = append(all, line)
	}
}

func messages(lines []map[string]any) []string {
	var out []string
	for _, line := range lines {
		out = append(out, line["message"].(string))
	}
	return out
}

func namespace(name string) *api.Namespace {
	return &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name, UID: "1"}}
}

// Each story is told by hooks, and is what the log says of it at some -v. The rows run in bubbles.
func TestWhatTheLogSays(t *testing.T) {
	refused := errors.New("refused")
	holds := []api.NamespaceCondition{
		{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue},
		{Type: api.NamespaceFinalizersRemaining, Status: api.ConditionFalse},
	}
	expired := api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired, Message: "too old resource version"})
	behind := api.NewStatusError(api.Status{Code: 504, Reason: api.ReasonTimeout, Details: &api.StatusDetails{
		Causes: []api.StatusCause{{Type: api.CauseResourceVersionTooLarge}},
	}})
	lost := &leaderelection.LostError{Lease: "kube-system/orrery"}
	const begins, interrupted = "namespace is being deleted", "pass interrupted, the next run or leader repeats it"
	const dry, needsTime = "dry run: would delete", "content remains and needs time"
	const failed, cannotReport = "pass failed, retrying", "cannot report conditions"

	deleting := func(l log) *nsctl.Trace {
		trace := l.Namespaces()
		trace.Enqueued(namespace("a"), 0)
		return trace
	}
	for name, c := range map[string]struct {
		verbosity int
		story     func(log)
		want      []string
	}{
		"a deletion": {0, func(l log) {
			trace := l.Namespaces()
			trace.Enqueued(namespace("a"), 5*time.Second)
			trace.Enqueued(namespace("a"), 5*time.Second)
			trace.PassStarted("a")
			trace.ConditionsUpdated("a", []api.NamespaceCondition{
				{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue, Reason: "Some", Message: "pods"},
				{Type: api.NamespaceFinalizersRemaining, Status: api.ConditionFalse},
			})
			trace.PassDone("a", time.Second, 0, &nsctl.ResourcesRemainingError{Estimate: 30})
			trace.Conflict("a", errors.New("modified"))
			trace.ConditionsFailed("a", errors.New("forbidden"))
			trace.ConditionsFailed("a", api.NewStatusError(api.Status{Code: 404, Reason: api.ReasonNotFound}))
			trace.PassDone("a", time.Second, 3, refused)
			trace.PassDone("a", time.Second, 3, controller.ErrCutShort)
			trace.Finalized("a", refused)
			trace.Finalized("a", nil)
			trace.PassDone("a", time.Second, 0, nil)
			trace.Enqueued(namespace("a"), 5*time.Second)
		}, []string{
			begins, "condition holds", needsTime, cannotReport, failed, interrupted, "namespace finalized",
		}},
		"requests, of which a warning is repeated": {0, func(l log) {
			trace := l.Requests()
			info := restclient.RequestInfo{Method: "GET", Path: "/api/v1/namespaces", Attempt: 1}
			trace.RequestDone(info, restclient.RequestResult{Code: 200, Duration: time.Millisecond})
			trace.RequestDone(info, restclient.RequestResult{Err: errors.New("gone")})
			trace.Retry(info, time.Second, errors.New("429"))
			trace.Throttled(info, time.Millisecond)
			trace.Throttled(info, 2*time.Second)
			for range 3 {
				trace.Warning(restclient.Warning{Code: 299, Text: "v1 Endpoints is deprecated", Origin: "pass-1"})
			}
			trace.Warning(restclient.Warning{Text: "the certificate is not verified"})
		}, []string{
			"request waited for the client's own rate limit, see --kube-api-qps", "the connection is not safe",
		}},
		"the trouble of an informer": {0, func(l log) {
			trace := l.Informer()
			handler := informer.HandlerInfo{Informer: "pods", Handler: "h"}
			trace.HandlerSynced(handler)
			trace.HandlerSynced(handler)
			trace.HandlerPanicked(handler, informer.EventUpdate, "a/b", nil)
			trace.ProcessError("pods", &informer.ProcessError{Key: "a/b", Err: errors.New("no key")})
			trace.Mutated("pods", &informer.MutationError{Key: "a/b"})
			list := l.Reflector("pods")
			list.Listed(reflector.ListInfo{Items: 3})
			list.WatchStarted(api.ListOptions{ResourceVersion: "7"})
			list.WatchEnded(reflector.WatchInfo{Err: io.EOF})
			list.WatchEnded(reflector.WatchInfo{Err: errors.New("reset")})
			list.BackOff(time.Second, errors.New("unreachable"))
			list.Expired("7", errors.New("too old"))
			list.IdleTimeout(time.Minute)
			list.StoreFailed(&reflector.StoreError{Err: errors.New("closed")})
		}, []string{
			"store is filled", "handler panicked", "event could not be applied",
			"an object of the store was changed", "list-watch failed, retrying", "event could not be queued",
		}},
		"why a namespace hangs, once after a restart or a takeover": {0, func(l log) {
			trace := deleting(l)
			trace.ConditionsKept("a", holds)
			trace.ConditionsKept("a", holds)
			trace.Enqueued(namespace("b"), 0)
			trace.ConditionsUpdated("b", holds)
			trace.ConditionsKept("b", holds)
		}, []string{begins, "condition holds", begins, "condition holds"}},
		"one start, whatever arrives late, and another one of a new namespace of the name": {0, func(l log) {
			trace := l.Namespaces()
			for _, uid := range []string{"1", "1", "2", "2"} {
				trace.Enqueued(&api.Namespace{ObjectMeta: api.ObjectMeta{Name: "a", UID: uid}}, 0)
				trace.PassDone("a", 0, 0, nil)
			}
		}, []string{begins, begins}},
		"nothing twice after the leadership was lost": {0, func(l log) {
			l.Election().Lost(lost)
			namespaces, things := l.Namespaces(), l.Controller("things")
			namespaces.Enqueued(namespace("a"), 0)
			for _, err := range []error{lost, fmt.Errorf("deleting: %w", leaderelection.ErrFenced)} {
				namespaces.ConditionsFailed("a", err)
				namespaces.PassDone("a", 0, 1, err)
				things.PassDone("a", 0, 1, 0, err)
				l.Reflector("namespaces").BackOff(time.Second, err)
			}
		}, []string{"lost leadership, stopping at once", begins, interrupted, interrupted, interrupted, interrupted}},
		"a server that was restored from a backup, but not an expired position": {0, func(l log) {
			l.Reflector("a").BackOff(time.Second, expired)
			l.Reflector("a").Expired("9", behind)
		}, []string{
			"the server is older than its last known version, as after a restore from a backup; listing again",
		}},
		"changes of a dry run that repeats its pass": {0, func(l log) {
			trace := deleting(l)
			for _, pods := range []int{4, 4, 3, 3} {
				trace.WouldDelete("a", api.PodsResource, nsctl.Found{ToDelete: pods}, nil)
				trace.WouldDelete("a", api.PodsResource, nsctl.Found{}, errors.New("forbidden"))
				trace.PassDone("a", 0, 1, errors.New("listing of secrets: forbidden"))
			}
		}, []string{begins, dry, failed, dry}},
		"no request that ended, and none after the first store is filled": {0, func(l log) {
			trace := l.Requests()
			watch := restclient.RequestInfo{Method: "GET", Verb: "watch", Path: "/api/v1/namespaces", Attempt: 1}
			trace.RequestStart(watch)
			trace.RequestDone(watch, restclient.RequestResult{Code: 200})
			quick := restclient.RequestInfo{Method: "GET", Path: "/apis", Attempt: 1}
			trace.RequestStart(quick)
			time.Sleep(time.Second)
			trace.Finished(quick, restclient.RequestResult{Code: 200})
			time.Sleep(time.Minute)
			l.Informer().HandlerSynced(informer.HandlerInfo{})
			trace.RequestStart(quick)
			time.Sleep(time.Minute)
		}, []string{"store is filled"}},
		"the same once a minute, or after a pass that succeeded, and another reason at once": {0, func(l log) {
			trace := deleting(l)
			for range 3 * 60 / 8 {
				trace.PassDone("a", 0, 0, &nsctl.ResourcesRemainingError{Estimate: 15})
				trace.ConditionsFailed("a", refused)
				trace.PassDone("a", 0, 1, refused)
				time.Sleep(8 * time.Second)
			}
			trace.ConditionsFailed("a", errors.New("a webhook denies it"))
			for _, err := range []error{errors.New("refused in another way"), refused, nil, refused} {
				trace.PassDone("a", 0, 1, err)
			}
		}, slices.Concat([]string{begins}, slices.Repeat([]string{needsTime, cannotReport, failed}, 3),
			[]string{cannotReport, failed, failed})},
		"a handler that panics for each of a thousand events, once a minute": {0, func(l log) {
			trace, handler := l.Informer(), informer.HandlerInfo{Informer: "pods", Handler: "h"}
			fail := func(depth int) (p *wait.Panic) {
				defer func() { p = wait.NewPanic(recover()) }()
				panic(errors.New(strconv.Itoa(depth)))
			}
			panicked := func(kind informer.EventKind, key int) {
				l.Panic("*errors.errorString", fail(key).Stack)
				trace.HandlerPanicked(handler, kind, strconv.Itoa(key), nil)
			}
			for i := range 1000 {
				panicked(informer.EventUpdate, i)
			}
			panicked(informer.EventDelete, 0)
			time.Sleep(time.Minute)
			panicked(informer.EventUpdate, 1)
		}, slices.Repeat([]string{"panic in this program, continuing", "handler panicked"}, 3)},
		"panics of one place that differ by their names": {0, func(l log) {
			for _, name := range []string{"*errors.errorString", "runtime.boundsError", "runtime.boundsError"} {
				l.Panic(name, []byte("main.f()\n\t/main.go:1 +0x1\n"))
			}
		}, slices.Repeat([]string{"panic in this program, continuing"}, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				assert.Equal(t, c.want, messages(lines(t, c.verbosity, func(l log) {
					c.story(l)
					synctest.Wait() // some lines are written by the goroutines of timers
				})))
			})
		})
	}
}

// Lines begin with what they are about.
func TestWhatALineHas(t *testing.T) {
	conflict := api.NewStatusError(api.Status{Status: api.StatusFailure, Code: 409, Reason: api.ReasonConflict,
		Message: "modified"})
	refused := errors.New("no")
	const waiting = "WARN  still waiting for an answer of the API server "
	const outage = "WARN  list-watch failed, retrying informer=pods error=no wait_s=5"
	for _, c := range []struct {
		verbosity int
		story     func(log)
		want      []string
	}{
		{0, func(l log) {
			found := nsctl.Found{ToDelete: 4, Terminating: 2}
			l.Namespaces().WouldDelete("a", api.PodsResource, found, nil)
		}, []string{"INFO  dry run: would delete namespace=a resource=pods items=4 terminating=2"}},
		{1, func(l log) {
			l.Requests().Warning(restclient.Warning{Code: 299, Text: "it is deprecated", Origin: "pass-1"})
		}, []string{`DEBUG the API server warns reconcile_id=pass-1 warning="it is deprecated"`}},
		{0, func(l log) { // a server that throttles
			trace, version := l.Requests(), restclient.RequestInfo{Method: "GET", Path: "/version"}
			for version.Attempt = range 4 {
				trace.RequestStart(version)
				trace.RequestDone(version, restclient.RequestResult{Code: 429})
				trace.Retry(version, 2*time.Second, refused)
				time.Sleep(2500 * time.Millisecond)
			}
			trace.Finished(version, restclient.RequestResult{Code: 429})
			time.Sleep(time.Minute)
		}, []string{
			waiting + "method=GET path=/version error=no attempts=1 waited_s=3",
			waiting + "method=GET path=/version error=no attempts=2 waited_s=6",
		}},
		{0, func(l log) { // an outage: its beginning, a line a minute, its end, and the next one at once
			list := l.Reflector("pods")
			for range 3 * 12 {
				list.BackOff(5*time.Second, refused)
				time.Sleep(5 * time.Second)
			}
			list.BackOff(5*time.Second, errors.New("another"))
			list.WatchStarted(api.ListOptions{})
			list.WatchStarted(api.ListOptions{})
			list.BackOff(5*time.Second, errors.New("another"))
		}, []string{
			outage, outage, outage, "WARN  list-watch failed, retrying informer=pods error=another wait_s=5",
			"INFO  list-watch works again informer=pods after_s=180 attempts=37",
			"WARN  list-watch failed, retrying informer=pods error=another wait_s=5",
		}},
		{0, func(l log) { // the time since the deletion timestamp, not since it was seen
			trace, shop := l.Namespaces(), namespace("shop")
			deleted := api.NewTime(time.Now().Add(-time.Minute))
			shop.DeletionTimestamp = &deleted
			trace.Finalized("unknown", nil)
			trace.Enqueued(shop, 0)
			trace.Finalized("shop", nil)
		}, []string{
			"INFO  namespace finalized namespace=unknown",
			"INFO  namespace is being deleted namespace=shop first_look_in_s=0",
			"INFO  namespace finalized namespace=shop after_s=60",
		}},
		{0, func(l log) { // nobody knows how long a finalizer stays; a line a minute
			trace := l.Namespaces()
			holds := func(status api.ConditionStatus) []api.NamespaceCondition {
				return []api.NamespaceCondition{{Type: api.NamespaceFinalizersRemaining, Status: status}}
			}
			trace.Enqueued(namespace("a"), 0)
			trace.PassDone("a", 0, 0, &nsctl.ResourcesRemainingError{Estimate: 30})
			trace.ConditionsUpdated("a", holds(api.ConditionTrue))
			trace.PassDone("a", 0, 0, &nsctl.ResourcesRemainingError{Estimate: 15})
			trace.ConditionsKept("a", holds(api.ConditionTrue))
			trace.PassDone("a", 0, 0, &nsctl.ResourcesRemainingError{Estimate: 15})
			trace.ConditionsUpdated("a", holds(api.ConditionFalse))
		}, []string{
			"INFO  namespace is being deleted namespace=a first_look_in_s=0",
			"INFO  content remains and needs time namespace=a estimate_s=30 next_look_in_s=16 took_s=0",
			"INFO  condition holds namespace=a condition=NamespaceFinalizersRemaining reason= detail=",
			"INFO  content remains, finalizers of other controllers hold it namespace=a next_look_in_s=8 took_s=0",
		}},
		{0, func(l log) { // how passes of any controller fail
			trace := l.Controller("things")
			trace.PassStarted("a")
			trace.PassDone("a", time.Second, 0, time.Minute, nil)
			trace.PassDone("a", 1028087237*time.Nanosecond, 1, 0, refused)
			trace.PassDone("b", time.Second, 1, 0, &wait.Panic{Value: "broken", Stack: []byte("here")})
			trace.PassDone("c", time.Second, 1, 0, controller.ErrCutShort)
		}, []string{
			"WARN  pass failed, retrying controller=things key=a error=no failures=1 took_s=1.028",
			`ERROR pass panicked, retrying controller=things key=b error="panic: broken" stack=here`,
			`WARN  pass interrupted, the next run or leader repeats it controller=things key=c ` +
				`error="the controller is stopping, and the time to finish the pass has passed: context canceled" took_s=1`,
		}},
		{1, func(l log) { // a line of a pass has its name
			trace := l.Controller("things")
			id := restclient.OriginOf(trace.PassContext(t.Context(), "a"))
			trace.PassStarted("a")
			trace.PassDone("a", time.Second, 0, time.Minute, nil)
			trace.PassStarted("a")
			trace.PassDone("a", time.Second, 0, 0, nil)
			l.Info().Str("id", id).Msg("it was")
		}, []string{
			"DEBUG pass started reconcile_id=ID controller=things key=a",
			"DEBUG pass done reconcile_id=ID controller=things key=a next_look_in_s=60 took_s=1",
			"DEBUG pass started controller=things key=a",
			"DEBUG pass done controller=things key=a took_s=1",
			"INFO  it was id=ID",
		}},
		{0, func(l log) { // an election and its end
			election := l.Election()
			election.NewLeader("b", 20*time.Second)
			election.Acquired(leaderelection.Term{Identity: "a", Predecessor: "b", Transitions: 3,
				Silent: 20 * time.Second})
			election.Released(nil)
			election.Released(refused)
		}, []string{
			"INFO  standing by, another replica leads leader=b silence_s=20",
			"INFO  became leader identity=a predecessor=b silence_s=20 transitions=3", "INFO  released the Lease",
			"WARN  the Lease could not be released: the other replicas wait until it expires error=no",
		}},
		{2, func(l log) { // the end of a watch is no error, nor an Event that was dropped for another reason
			l.Reflector("pods").WatchEnded(reflector.WatchInfo{Err: io.EOF, Events: 3, Lasted: time.Minute})
			l.Reflector("pods").WatchEnded(reflector.WatchInfo{ResourceVersion: "7", Err: refused})
			dropped, event := l.Events().Dropped, &api.Event{ObjectMeta: api.ObjectMeta{Namespace: "a"}}
			dropped(t.Context(), event, events.DropQueueFull, refused)
			dropped(t.Context(), event, events.DropForbidden, refused)
			info := restclient.RequestInfo{Method: "GET", Path: "/apis", Origin: "pass-1"}
			l.Requests().RequestDone(info, restclient.RequestResult{Code: 200, Duration: time.Second})
			l.Requests().RequestDone(restclient.RequestInfo{Method: "GET"}, restclient.RequestResult{Err: refused})
			l.Requests().Throttled(info, time.Second)
		}, []string{
			"DEBUG watch ended informer=pods events=3 lasted_s=60 resource_version=",
			"DEBUG watch ended informer=pods error=no events=0 lasted_s=0 resource_version=7",
			"DEBUG events are forbidden, continuing without them error=no in_namespace=a pause_s=600",
			"DEBUG request reconcile_id=pass-1 method=GET path=/apis code=200 took_s=1",
			"DEBUG request error=no method=GET path= code=0 took_s=0",
			"WARN  request waited for the client's own rate limit, see --kube-api-qps reconcile_id=pass-1 method=GET " +
				"path=/apis waited_s=1",
		}},
		{0, func(l log) { // the cache of an informer lags, so a conflict is ordinary until it repeats
			trace := l.Controller("things")
			for failures := range 6 {
				trace.PassDone("a", time.Second, failures+1, 0, conflict)
			}
		}, []string{"WARN  pass failed, retrying controller=things key=a error=modified failures=4 took_s=1"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			c.story(logs.New(logs.Config{Writer: &out, Verbosity: c.verbosity}))
			synctest.Wait()
			var got []string
			for line := range strings.Lines(passID.ReplaceAllString(out.String(), "id=ID")) {
				_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
				got = append(got, line)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// passID is a pass of a logger of its own, which has a random name.
var passID = regexp.MustCompile(`id=[a-z0-9]{6}-1\b`)

// Memory for namespaces that have gone does not grow with their number.
func TestManyDeletionsAreNotRemembered(t *testing.T) {
	reported := lines(t, 0, func(l log) {
		trace := l.Namespaces()
		for i := range 5002 {
			name := strconv.Itoa(i % 5001) // the first one was forgotten long ago
			trace.Enqueued(namespace(name), 0)
			trace.PassDone(name, 0, 0, nil)
		}
		trace.Enqueued(namespace("5000"), 0) // logged just now
	})
	assert.Len(t, reported, 5002)
}

// Messages of servers and names of objects may have control characters, which must not reach a
// terminal. The colours of the log itself do.
func TestControlCharactersDoNotReachTheTerminal(t *testing.T) {
	const hostile = "a\x1b[2K\rb\nc\x7f\u009b2J"
	for format, want := range map[logs.Format]string{
		logs.Text: `detail="a\x1b[2K\rb\nc\x7f\u009b2J" left=["a\u001b[2K\rb\nc\u007f\u009b2J"]`,
		logs.JSON: `"detail":"a\u001b[2K\rb\nc\u007f\u009b2J","left":["a\u001b[2K\rb\nc\u007f\u009b2J"]`,
	} {
		var out bytes.Buffer
		plain := logs.New(logs.Config{Writer: &out, Format: format})
		plain.Warn().Str("detail", hostile).Strs("left", []string{hostile}).Msg("m")
		assert.Contains(t, out.String(), want)
		out.Reset()
		colored := logs.New(logs.Config{Writer: &out, Format: format, Color: true})
		colored.Warn().Str("detail", hostile).Err(errors.New(hostile)).Msg("m")
		assert.NotContains(t, out.String(), "\x1b[2K")
		assert.NotContains(t, out.String(), "\u009b")
		assert.Equal(t, format == logs.Text, strings.Contains(out.String(), "\x1b[33mWARN"),
			"colours of the log itself")
	}
}
