package logs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/leaderelection"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/logs"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// lines calls a function with a logger in JSON format and returns the lines, without times.
func lines(t *testing.T, verbosity int, run func(*logs.Logger)) []map[string]any {
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

func TestParseFormat(t *testing.T) {
	for _, name := range []string{"text", "json"} {
		format, err := logs.ParseFormat(name)
		require.NoError(t, err)
		assert.Equal(t, logs.Format(name), format)
	}
	format, err := logs.ParseFormat("console")
	require.NoError(t, err)
	assert.Equal(t, logs.Text, format, "the usual name")
	_, err = logs.ParseFormat("")
	assert.ErrorContains(t, err, "use text or json")
}

func TestTextIsOnePlainLine(t *testing.T) {
	var out bytes.Buffer
	logger := logs.New(logs.Config{Writer: &out})
	logger.Info().Str("namespace", "a").Msg("namespace finalized")
	line := out.String()
	assert.True(t, strings.HasSuffix(line, "INFO  namespace finalized namespace=a\n"), line)
	assert.NotContains(t, line, "\x1b", "no colours unless asked for")
	out.Reset()
	logs.New(logs.Config{Writer: &out, Color: true}).Info().Str("namespace", "a").Msg("x")
	assert.Contains(t, out.String(), "\x1b")
}

func TestTheStoryOfADeletion(t *testing.T) {
	story := func(l *logs.Logger) {
		trace := l.Namespaces()
		trace.Enqueued(namespace("a"), 5*time.Second)
		trace.Enqueued(namespace("a"), 5*time.Second)
		trace.PassStarted("a")
		trace.Discovered("a", 30, nil)
		trace.TypeDeleted("a", api.PodsResource, 2, nil)
		trace.TypeDeleted("a", api.PodsResource, 0, nil)
		trace.TypeDeleted("a", api.PodsResource, 0, errors.New("refused"))
		trace.ConditionsUpdated("a", []api.NamespaceCondition{
			{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue, Reason: "SomeResourcesRemain", Message: "pods"},
			{Type: api.NamespaceFinalizersRemaining, Status: api.ConditionFalse},
		})
		trace.PassDone("a", time.Second, 0, &nsctl.ResourcesRemainingError{Estimate: 30})
		trace.Conflict("a", errors.New("modified"))
		trace.ConditionsFailed("a", errors.New("forbidden"))
		trace.PassDone("a", time.Second, 3, errors.New("refused"))
		trace.Discovered("a", 30, errors.New("a group is down"))
		trace.Finalized("a", errors.New("refused"))
		trace.Finalized("a", nil)
		trace.PassDone("a", time.Second, 0, nil)
		trace.Enqueued(namespace("a"), 5*time.Second)
	}
	assert.Equal(t, []string{
		"namespace is being deleted",
		"condition holds",
		"content remains and needs time",
		"cannot report conditions",
		"pass failed, retrying",
		"namespace finalized",
	}, messages(lines(t, 0, story)))

	quiet := lines(t, 0, story)
	assert.Equal(t, map[string]any{"level": "info", "message": "content remains and needs time", "namespace": "a",
		"took_s": 1.0, "estimate_s": 30.0, "next_look_in_s": 16.0}, quiet[2])
	assert.Equal(t, map[string]any{"level": "info", "message": "condition holds", "namespace": "a",
		"condition": "NamespaceContentRemaining", "reason": "SomeResourcesRemain", "detail": "pods"}, quiet[1])
	assert.Equal(t, "warn", quiet[4]["level"])
	assert.Equal(t, 3.0, quiet[4]["failures"])
	assert.Len(t, lines(t, 1, story), 16)
	assert.Len(t, lines(t, 3, story), 17)
}

// After a restart or a takeover the log says why a namespace hangs, although the status has said it
// before.
func TestExistingConditionsAreLoggedOnce(t *testing.T) {
	conditions := []api.NamespaceCondition{
		{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue, Reason: "SomeResourcesRemain", Message: "pods"},
		{Type: api.NamespaceFinalizersRemaining, Status: api.ConditionFalse},
	}
	reported := lines(t, 0, func(l *logs.Logger) {
		trace := l.Namespaces()
		trace.Enqueued(namespace("a"), 0)
		trace.ConditionsKept("a", conditions)
		trace.ConditionsKept("a", conditions)
		trace.Enqueued(namespace("b"), 0)
		trace.ConditionsUpdated("b", conditions)
		trace.ConditionsKept("b", conditions)
	})
	assert.Equal(t, []string{"namespace is being deleted", "condition holds", "namespace is being deleted", "condition holds"}, messages(reported))
	assert.Equal(t, "SomeResourcesRemain", reported[1]["reason"])
}

// Events may arrive late, and a namespace with another party's finalizer is examined forever.
// Neither begins another deletion; a new namespace with the old name does.
func TestTheStartIsLoggedOnce(t *testing.T) {
	begun := func(uids ...string) int {
		reported := lines(t, 0, func(l *logs.Logger) {
			trace := l.Namespaces()
			for _, uid := range uids {
				ns := namespace("a")
				ns.UID = uid
				trace.Enqueued(ns, 0)
				trace.PassDone("a", 0, 0, nil)
			}
		})
		return len(reported)
	}
	assert.Equal(t, 1, begun("1", "1", "1"))
	assert.Equal(t, 2, begun("1", "1", "2", "2"))
}

func TestRepeatedReportsAreLoggedOnceAMinute(t *testing.T) {
	remaining, failed := &nsctl.ResourcesRemainingError{Estimate: 15}, errors.New("refused")
	synctest.Test(t, func(t *testing.T) {
		reported := messages(lines(t, 0, func(l *logs.Logger) {
			trace := l.Namespaces()
			trace.Enqueued(namespace("a"), 0)
			trace.Enqueued(namespace("b"), 0)
			for range 5 * 60 / 8 {
				trace.PassDone("a", 0, 0, remaining)
				time.Sleep(8 * time.Second)
			}
			trace.PassDone("b", 0, 1, failed)
			trace.PassDone("b", 0, 2, failed)
			trace.PassDone("b", 0, 2, errors.New("refused in another way"))
			trace.PassDone("b", 0, 3, failed)
			trace.PassDone("b", 0, 0, nil)
			trace.PassDone("b", 0, 1, failed)
		}))
		assert.Equal(t, 5, count(reported, "content remains and needs time"))
		assert.Equal(t, 3, count(reported, "pass failed, retrying"))
	})
}

// A status update that is refused is repeated with each pass, for seconds or for hours.
func TestReportsThatAreRefusedAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		story := func(l *logs.Logger) {
			trace := l.Namespaces()
			trace.Enqueued(namespace("a"), 0)
			for range 24 {
				trace.ConditionsFailed("a", errors.New("forbidden"))
				trace.PassDone("a", 0, 1, errors.New("refused"))
				time.Sleep(5 * time.Second)
			}
			trace.ConditionsFailed("a", errors.New("a webhook denies it"))
		}
		assert.Equal(t, 3, count(messages(lines(t, 0, story)), "cannot report conditions"), "two minutes, and another reason")
		assert.Equal(t, 25, count(messages(lines(t, 1, story)), "cannot report conditions"))
	})
}

// A process that has lost the election repeats no line, whatever errors its passes return.
func TestNothingIsRepeatedAfterTheLeadershipWasLost(t *testing.T) {
	lost := &leaderelection.LostError{Lease: "kube-system/orrery"}
	fenced := fmt.Errorf("deleting: %w", leaderelection.ErrFenced)
	reported := messages(lines(t, 0, func(l *logs.Logger) {
		l.Election().Lost(lost)
		namespaces, things := l.Namespaces(), l.Controller("things")
		namespaces.Enqueued(namespace("a"), 0)
		for _, err := range []error{lost, fenced} {
			namespaces.ConditionsFailed("a", err)
			namespaces.PassDone("a", 0, 1, err)
			things.PassDone("a", 0, 1, 0, err)
			l.Reflector("namespaces").BackOff(time.Second, err)
		}
	}))
	cut := "pass interrupted, the next run or leader repeats it"
	assert.Equal(t, []string{"lost leadership, stopping at once", "namespace is being deleted", cut, cut, cut, cut}, reported)
}

// The last line of the run says why the leadership was lost.
func TestTheReasonOfLostLeadershipIsSaidOnce(t *testing.T) {
	reported := lines(t, 0, func(l *logs.Logger) {
		l.Election().Lost(&leaderelection.LostError{Lease: "kube-system/orrery"})
	})
	assert.Equal(t, "warn", reported[0]["level"])
	assert.NotContains(t, reported[0], "error")
}

// A namespace that is gone says how long that took, and how much there was.
func TestAFinalizedNamespaceSaysWhatItTook(t *testing.T) {
	reported := lines(t, 0, func(l *logs.Logger) {
		trace := l.Namespaces()
		shop := namespace("shop")
		deleted := api.NewTime(time.Now().Add(-time.Minute))
		shop.DeletionTimestamp = &deleted
		trace.Finalized("unknown", nil)
		trace.Enqueued(shop, 0)
		trace.Deleted("shop", 3)
		trace.Deleted("shop", 4)
		trace.Deleted("another", 5)
		trace.Finalized("shop", nil)
	})
	assert.NotContains(t, reported[0], "after_s", "this process has not seen its deletion")
	assert.Equal(t, 7.0, reported[2]["objects"])
	assert.InDelta(t, 60, reported[2]["after_s"], 30, "since its deletion timestamp, not since it was seen")
}

// Nobody knows how long a finalizer stays.
func TestAFinalizerHasNoEstimate(t *testing.T) {
	holds := []api.NamespaceCondition{{Type: api.NamespaceFinalizersRemaining, Status: api.ConditionTrue}}
	gone := []api.NamespaceCondition{{Type: api.NamespaceFinalizersRemaining, Status: api.ConditionFalse}}
	reported := lines(t, 0, func(l *logs.Logger) {
		trace := l.Namespaces()
		trace.Enqueued(namespace("a"), 0)
		trace.PassDone("a", 0, 0, &nsctl.ResourcesRemainingError{Estimate: 30})
		trace.ConditionsUpdated("a", holds)
		trace.PassDone("a", 0, 0, &nsctl.ResourcesRemainingError{Estimate: 15})
		trace.ConditionsKept("a", holds)
		trace.PassDone("a", 0, 0, &nsctl.ResourcesRemainingError{Estimate: 15})
		trace.ConditionsUpdated("a", gone)
	})
	const held = "content remains, finalizers of other controllers hold it"
	want := []string{"namespace is being deleted", "content remains and needs time", "condition holds", held}
	assert.Equal(t, want, messages(reported), "once a minute")
	assert.Equal(t, 30.0, reported[1]["estimate_s"])
	assert.NotContains(t, reported[3], "estimate_s")
}

func count(lines []string, wanted string) int {
	n := 0
	for _, line := range lines {
		if line == wanted {
			n++
		}
	}
	return n
}

// Memory for namespaces that have gone does not grow with their number.
func TestManyDeletionsAreNotRemembered(t *testing.T) {
	var out bytes.Buffer
	trace := logs.New(logs.Config{Writer: &out}).Namespaces()
	deletion := func(i int) {
		name := fmt.Sprintf("ns-%d", i)
		trace.Enqueued(namespace(name), 0)
		trace.PassDone(name, 0, 0, nil)
	}
	for i := range 5000 {
		deletion(i)
	}
	out.Reset()
	deletion(0)
	assert.Contains(t, out.String(), "namespace is being deleted", "it was forgotten long ago")
	out.Reset()
	deletion(4999)
	assert.Empty(t, out.String(), "logged just now")
}

func TestPassCutShortAndVanishedNamespace(t *testing.T) {
	reported := lines(t, 0, func(l *logs.Logger) {
		trace := l.Namespaces()
		trace.Enqueued(namespace("a"), 0)
		trace.PassDone("a", time.Second, 1, controller.ErrCutShort)
		trace.ConditionsFailed("a", api.NewStatusError(api.Status{Code: 404, Reason: api.ReasonNotFound}))
	})
	assert.Equal(t, []string{"namespace is being deleted", "pass interrupted, the next run or leader repeats it"}, messages(reported))
}

func TestExpiredPositionsAreOrdinary(t *testing.T) {
	expired := api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired, Message: "too old resource version"})
	story := func(l *logs.Logger) { l.Reflector("namespaces").BackOff(time.Second, expired) }
	assert.Empty(t, lines(t, 0, story))
	assert.Len(t, lines(t, 1, story), 1)
}

// After a restore from a backup other programs may have to be restarted, so the operator must see
// it.
func TestAServerThatIsBehindIsNotOrdinary(t *testing.T) {
	behind := api.NewStatusError(api.Status{Code: 504, Reason: api.ReasonTimeout, Message: "Too large resource version: 9, current: 2",
		Details: &api.StatusDetails{Causes: []api.StatusCause{{Type: api.CauseResourceVersionTooLarge}}}})
	reported := lines(t, 0, func(l *logs.Logger) { l.Reflector("namespaces").Expired("9", behind) })
	assert.Equal(t, []string{"the server is older than its last known version, as after a restore from a backup; listing again"}, messages(reported))
}

func TestTextBeginsWithWhatItIsAbout(t *testing.T) {
	var out bytes.Buffer
	logs.New(logs.Config{Writer: &out}).Namespaces().ConditionsUpdated("a", []api.NamespaceCondition{
		{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue, Reason: "SomeResourcesRemain", Message: "pods"},
	})
	assert.Contains(t, out.String(), "INFO  condition holds namespace=a condition=NamespaceContentRemaining reason=SomeResourcesRemain detail=pods\n")
	out.Reset()
	logs.New(logs.Config{Writer: &out}).Namespaces().PassDone("a", 28087237*time.Nanosecond, 2, errors.New("no"))
	assert.Contains(t, out.String(), "namespace=a error=no failures=2 took_s=0.028\n")
}

func TestDryRunLogsWhatItWouldDelete(t *testing.T) {
	story := func(l *logs.Logger) {
		trace := l.Namespaces()
		trace.WouldDelete("a", api.PodsResource, nsctl.Found{}, nil)
		trace.WouldDelete("a", api.PodsResource, nsctl.Found{ToDelete: 4, Held: 2, Names: make([]string, 6)}, nil)
		trace.WouldDelete("a", api.PodsResource, nsctl.Found{}, errors.New("forbidden"))
	}
	assert.Equal(t, []string{"dry run: would delete", "dry run: cannot see this content"}, messages(lines(t, 1, story)))
	reported := lines(t, 0, story)
	assert.Equal(t, []string{"dry run: would delete"}, messages(reported))
	assert.Equal(t, 4.0, reported[0]["items"])
	assert.Equal(t, 2.0, reported[0]["held"], "what already terminates is apart")
	assert.Equal(t, "pods", reported[0]["resource"], "as kubectl calls it, not as the conditions do")
}

// A dry run that may not read some types repeats its pass, and finds the same content of the
// others.
func TestDryRunThatIsRepeatedLogsOnlyChanges(t *testing.T) {
	reported := lines(t, 0, func(l *logs.Logger) {
		trace := l.Namespaces()
		trace.Enqueued(namespace("a"), 0)
		for _, pods := range []int{4, 4, 3, 3} {
			trace.WouldDelete("a", api.PodsResource, nsctl.Found{ToDelete: pods, Names: make([]string, pods)}, nil)
			trace.WouldDelete("a", api.PodsResource, nsctl.Found{}, errors.New("forbidden"))
			trace.PassDone("a", 0, 1, errors.New("listing of secrets: forbidden"))
		}
	})
	assert.Equal(t, []string{"namespace is being deleted", "dry run: would delete", "pass failed, retrying", "dry run: would delete"}, messages(reported))
}

func TestRequestsShowNoQueryAndEachWarningOnce(t *testing.T) {
	story := func(l *logs.Logger) {
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
	}
	assert.Equal(t, []string{
		"request waited for the client's own rate limit, see --kube-api-qps",
		"the connection is not safe",
	}, messages(lines(t, 0, story)))
	assert.Equal(t, 1, count(messages(lines(t, 1, story)), "the API server warns"))
	assert.Equal(t, "pass-1", lines(t, 1, story)[2]["reconcile_id"], "the reconcile ID of its pass")
	assert.Len(t, lines(t, 1, story), 4)
	assert.Len(t, lines(t, 2, story), 6)
}

// A server that throttles or does not answer is reported after three seconds, until the first
// store is filled.
func TestASlowStartIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := lines(t, 0, func(l *logs.Logger) {
			trace := l.Requests()
			version := restclient.RequestInfo{Method: "GET", Path: "/version"}
			for attempt := range 5 {
				version.Attempt = attempt + 1
				trace.RequestStart(version)
				trace.RequestDone(version, restclient.RequestResult{Code: 429})
				trace.Retry(version, 2*time.Second, errors.New("too many requests"))
				time.Sleep(2 * time.Second)
			}
			trace.Finished(version, restclient.RequestResult{Code: 429})
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
			synctest.Wait()
		})
		require.Equal(t, []string{"still waiting for an answer of the API server", "still waiting for an answer of the API server", "store is filled"}, messages(reported))
		assert.Equal(t, map[string]any{"level": "warn", "message": reported[0]["message"], "method": "GET", "path": "/version",
			"waited_s": 3.0, "attempts": 2.0, "error": "too many requests"}, reported[0])
		assert.Equal(t, 6.0, reported[1]["waited_s"])
	})
}

// A server may open a streaming list and send nothing.
func TestAnInitialListThatDoesNotComeIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := messages(lines(t, 0, func(l *logs.Logger) {
			list := l.Reflector("namespaces")
			list.WatchStarted(api.ListOptions{SendInitialEvents: true})
			list.Listed(reflector.ListInfo{})
			time.Sleep(time.Minute)
			list.WatchEnded(reflector.WatchInfo{})
			list.WatchStarted(api.ListOptions{SendInitialEvents: true})
			time.Sleep(2 * time.Second)
			list.WatchEnded(reflector.WatchInfo{})
			time.Sleep(time.Minute)
			list.WatchStarted(api.ListOptions{SendInitialEvents: true})
			time.Sleep(10 * time.Second)
			list.WatchEnded(reflector.WatchInfo{})
			list.WatchStarted(api.ListOptions{})
			time.Sleep(time.Minute)
			synctest.Wait() // the line was written on the timer's goroutine
		}))
		assert.Equal(t, []string{"still waiting for the initial list"}, reported)
	})
}

// A watch that cannot be opened is reported without -v: at the beginning, once a minute, and at
// the end.
func TestAnOutageIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("the server cannot be reached")
		story := func(l *logs.Logger) {
			list := l.Reflector("namespaces")
			list.WatchStarted(api.ListOptions{})
			for range 10 {
				for range 12 {
					list.BackOff(5*time.Second, refused)
					time.Sleep(5 * time.Second)
				}
			}
			list.BackOff(5*time.Second, errors.New("no file descriptor is left"))
			list.WatchStarted(api.ListOptions{})
			list.WatchStarted(api.ListOptions{})
			list.BackOff(5*time.Second, refused)
		}
		reported := lines(t, 0, story)
		require.Len(t, reported, 13)
		assert.Equal(t, []string{"list-watch works again", "list-watch failed, retrying"}, messages(reported)[11:])
		assert.EqualValues(t, 121, reported[11]["attempts"])
		assert.EqualValues(t, 600, reported[11]["after_s"])
		assert.Len(t, lines(t, 1, story), 10*12+3)
	})
}

func TestInformersReportTrouble(t *testing.T) {
	const secret = "the-content-of-an-object"
	story := func(l *logs.Logger) {
		trace := l.Informer()
		handler := informer.HandlerInfo{Informer: "pods", Handler: "h"}
		trace.HandlerSynced(handler)
		trace.HandlerSynced(handler)
		trace.HandlerLagging(handler, 1024)
		trace.HandlerPanicked(handler, informer.EventUpdate, "a/b", secret)
		trace.ProcessError("pods", &informer.ProcessError{Key: "a/b", Err: errors.New("no key")})
		trace.Mutated("pods", &informer.MutationError{Key: "a/b", Differences: []informer.Difference{{Path: "data.x", Was: secret, Is: secret}}})
		trace.Distributed(informer.EventInfo{Kind: informer.EventAdd, Key: "a/b"}, 1)
		list := l.Reflector("pods")
		list.Listed(reflector.ListInfo{Items: 3})
		list.StreamingListAbandoned(errors.New("refused"))
		list.WatchStarted(api.ListOptions{ResourceVersion: "7"})
		list.WatchEnded(reflector.WatchInfo{Err: io.EOF})
		list.WatchEnded(reflector.WatchInfo{Err: errors.New("reset")})
		list.BackOff(time.Second, errors.New("unreachable"))
		list.Expired("7", errors.New("too old"))
		list.IdleTimeout(time.Minute)
		list.StoreFailed(&reflector.StoreError{Err: errors.New("closed")})
	}
	assert.Equal(t, []string{
		"store is filled", "handler cannot keep up", "handler panicked", "event could not be applied",
		"an object of the store was changed", "list-watch failed, retrying",
		"event could not be queued",
	}, messages(lines(t, 0, story)))
	all := lines(t, 3, story)
	assert.Len(t, all, 15)
	text, err := json.Marshal(all)
	require.NoError(t, err)
	assert.NotContains(t, string(text), secret, "a log never holds the content of objects")
}

func TestQueueIsNotTracedWithoutNeed(t *testing.T) {
	assert.Nil(t, logs.New(logs.Config{Writer: io.Discard}).Queue("q", "c"))
	story := func(l *logs.Logger) {
		trace := l.Queue("q", "c")
		event := queue.Event[string]{Key: "a"}
		trace.Added(event)
		trace.Delayed(event, time.Second)
		trace.Retried("a", 2, time.Second)
		trace.Got(event, time.Second)
		trace.Done(event, time.Second)
	}
	assert.Equal(t, []string{"retry planned"}, messages(lines(t, 1, story)))
	assert.Equal(t, []string{"queued", "delayed", "retry planned", "taken by a worker", "done"}, messages(lines(t, 3, story)))
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
