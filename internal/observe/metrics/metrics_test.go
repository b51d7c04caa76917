package metrics_test

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/events"
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/metrics"
	"orrery/queue"
	"orrery/queue/fast"
	"orrery/restclient"
	"orrery/restclient/api"
)

// busy returns metrics that all have a value.
func busy(t *testing.T) *metrics.Metrics {
	m := metrics.New("v1")
	q := queue.New(queue.Config[string]{Name: "q", Metrics: m.Queues()})
	q.Add("a")
	q.Get()
	q.Done("a")
	m.BeforeGather(q.UpdateMetrics)
	requests := m.Requests("https://server:6443")
	info := restclient.RequestInfo{Method: "GET", Verb: "get", Attempt: 2}
	requests.RequestDone(info, restclient.RequestResult{Code: 200, Limited: true})
	requests.Finished(info, restclient.RequestResult{Code: 200})
	m.Leading("orrery", true)
	m.Informer(metrics.InformerID{Name: "orrery"}, func() informer.Snapshot {
		return informer.Snapshot{Name: "things", Handlers: []informer.HandlerSnapshot{{}}}
	})
	fifo := metrics.FIFO[string](m, metrics.InformerID{Name: "orrery"})
	fifo.Popped("a", nil, false, 0)
	fifo.Processed("a", nil, nil)
	m.Reflector("things").BackOff(time.Second, io.EOF)
	m.Deleting(func() int { return 1 }, func() time.Duration { return time.Minute })
	m.PassedOver(func() int { return 0 })
	namespaces := m.Namespaces()
	namespaces.PhaseDone("ns", "grace", time.Second)
	namespaces.TypeDeleted("ns", api.PodsResource, 0, io.EOF)
	m.Running("things-controller", true)
	m.Controller("things-controller")
	m.Events(func() events.Snapshot { return events.Snapshot{Recorded: 1} })
	m.LostLines(func() int64 { return 1 })
	return m
}

// The scraped families equal the definitions: names, types, labels, buckets and help. The library
// adds those of the process and of the Go runtime. Prometheus' own linter accepts names and texts.
func TestDefinitionsAreWhatIsWritten(t *testing.T) {
	families := gather(t, busy(t))
	for _, d := range metrics.Definitions() {
		family := families[d.Name]
		if !assert.NotNil(t, family, "%s has no value", d.Name) {
			continue
		}
		delete(families, d.Name)
		assert.Equal(t, string(d.Kind), strings.ToLower(family.GetType().String()), d.Name)
		assert.Equal(t, d.Help, family.GetHelp(), d.Name)
		var labels []string
		for _, label := range family.Metric[0].Label {
			labels = append(labels, label.GetName())
		}
		assert.ElementsMatch(t, d.Labels, labels, d.Name)
		assert.Len(t, d.Buckets, len(family.Metric[0].GetHistogram().GetBucket()), d.Name)
		assert.True(t, slices.IsSorted(d.Buckets), d.Name)
	}
	for name := range families {
		assert.Regexp(t, "^(process|go)_", name, "everything else is defined")
	}
	problems, err := promlint.New(strings.NewReader(text(busy(t)))).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)
}

// Counting a queue event or a FIFO change does not allocate.
func TestCountingCostsNoAllocation(t *testing.T) {
	m := metrics.New("")
	fifo := metrics.FIFO[string](m, metrics.InformerID{})
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		fifo.Popped("a", deltafifo.Deltas[string]{}, false, 3)
		fifo.Processed("a", deltafifo.Deltas[string]{}, nil)
	}), "fifo")

	cycle := func(q *fast.Queue[string]) func() {
		return func() { q.Add("a"); q.Get(); q.Done("a") }
	}
	plain := testing.AllocsPerRun(200, cycle(fast.New(queue.Config[string]{})))
	config := queue.Config[string]{Name: "q", Metrics: m.Queues()}
	assert.Equal(t, plain, testing.AllocsPerRun(200, cycle(fast.New(config))))
}

// The suite of the queue has what each figure means.
func TestQueueInFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New("")
		q := queue.NewDelaying(queue.Config[string]{Name: "q", Metrics: m.Queues()})
		m.BeforeGather(q.UpdateMetrics)
		q.Add("a")
		q.Add("b")
		time.Sleep(2 * time.Second)
		q.Get()
		q.AddAfter("d", time.Hour)
		time.Sleep(3 * time.Second)
		has(t, m, `workqueue_depth{name="q"} 1`, `workqueue_adds_total{name="q"} 2`,
			`workqueue_retries_total{name="q"} 1`, `workqueue_unfinished_work_seconds{name="q"} 3`,
			`workqueue_longest_running_processor_seconds{name="q"} 3`,
			`workqueue_queue_duration_seconds_sum{name="q"} 2`)
		q.Done("a")
		has(t, m, `workqueue_work_duration_seconds_sum{name="q"} 3`)
		q.ShutDown()
	})
}

func TestRequestsInFigures(t *testing.T) {
	m := metrics.New("")
	for host, server := range map[string]string{"a:6443": "https://a:6443/prefix", "[::1]:8080": "http://[::1]:8080"} {
		done := m.Requests(server).RequestDone
		done(restclient.RequestInfo{Method: "GET", Attempt: 1, Path: "/a"}, restclient.RequestResult{Code: 200})
		done(restclient.RequestInfo{Method: "GET", Attempt: 1, Path: "/b"}, restclient.RequestResult{Code: 503})
		done(restclient.RequestInfo{Method: "GET", Attempt: 2, Path: "/b"}, restclient.RequestResult{Err: io.EOF})
		for _, code := range []string{"200", "503", "<error>"} {
			has(t, m, fmt.Sprintf(`rest_client_requests_total{code=%q,host=%q,method="GET"} 1`, code, host))
		}
		has(t, m, fmt.Sprintf(`rest_client_request_retries_total{code="<error>",host=%q,verb="GET"} 1`, host))
	}
	assert.NotContains(t, text(m), "rest_client_rate_limiter_duration_seconds", "there was no limit")
	assert.NotContains(t, text(m), `rest_client_request_retries_total{code="200"`, "a first attempt is no retry")
	trace := m.Requests("b")
	limited := restclient.RequestResult{Limited: true, Waited: 2 * time.Second, Duration: 5 * time.Second}
	trace.RequestDone(restclient.RequestInfo{Method: "GET"}, limited)
	trace.Finished(restclient.RequestInfo{Method: "GET"}, limited)
	has(t, m, `rest_client_rate_limiter_duration_seconds_sum{host="",verb="GET"} 2`,
		`rest_client_request_duration_seconds_sum{host="",verb="GET"} 5`)
}

// A host and the name of a Lease come from the user.
func TestInvalidUTF8IsReplaced(t *testing.T) {
	m := metrics.New("")
	m.Leading("a\xffb", true)
	m.Requests("https://%ff:6443").RequestDone(restclient.RequestInfo{Method: "GET"}, restclient.RequestResult{Code: 200})
	has(t, m, "leader_election_master_status{name=\"a\uFFFDb\"} 1",
		"rest_client_requests_total{code=\"200\",host=\"\uFFFD:6443\",method=\"GET\"} 1")
}

// Requests are counted for their pass while it is in progress.
func TestRequestsOfPasses(t *testing.T) {
	m := metrics.New("")
	requests, namespaces := m.Requests("https://server"), m.Namespaces()
	ask := func(origin string, times int) {
		for range times {
			info := restclient.RequestInfo{Method: "GET", Origin: origin}
			requests.RequestDone(info, restclient.RequestResult{Code: 200})
		}
	}
	namespaces.PassContext(restclient.WithOrigin(t.Context(), "one"), "a")
	namespaces.PassContext(restclient.WithOrigin(t.Context(), "two"), "b")
	namespaces.PassContext(t.Context(), "unnamed")
	ask("", 100)
	ask("one", 3)
	ask("two", 5)
	namespaces.PassDone("a", time.Second, 0, nil)
	ask("one", 100)
	namespaces.PassDone("b", time.Second, 0, nil)
	namespaces.PassDone("unnamed", time.Second, 0, nil)
	has(t, m, "orrery_pass_requests_count 2", "orrery_pass_requests_sum 8")
}

// Comparing two scrapes shows a handler that hangs, without a record of each event.
func TestAHandlerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New("")
		handler := informer.HandlerSnapshot{HandlerInfo: informer.HandlerInfo{Handler: "h", ID: 1}, Handled: 10}
		twin := informer.HandlerSnapshot{HandlerInfo: informer.HandlerInfo{Handler: "h2", ID: 2}, Pending: 7,
			PeakPending: 9, Handled: 20, Panics: 5}
		handlers := []*informer.HandlerSnapshot{&handler, &twin}
		m.Informer(id, func() informer.Snapshot {
			s := informer.Snapshot{Name: "things", Queued: 1, Objects: 2, ProcessErrors: 3,
				Reflector: reflector.Snapshot{Lists: 4, Watches: 5, Events: 6, Failures: 7}}
			for _, h := range handlers {
				s.Handlers = append(s.Handlers, *h)
			}
			return s
		})
		stalled := func(name string, seconds int) {
			t.Helper()
			has(t, m, fmt.Sprintf(`orrery_listener_stalled_seconds{handler=%q,informer="things"} %d`, name, seconds))
		}
		text(m)
		time.Sleep(time.Minute)
		stalled("h", 0) // it is idle
		stalled("h2", 60)
		has(t, m, `orrery_listener_backlog{handler="h2",informer="things"} 7`,
			`orrery_listener_backlog_peak{handler="h2",informer="things"} 9`,
			`orrery_listener_handled_total{handler="h2",informer="things"} 20`,
			`orrery_listener_panics_total{handler="h2",informer="things"} 5`,
			`informer_queued_items{group="",name="test",resource="namespaces",version="v1"} 1`,
			`orrery_informer_objects{informer="things"} 2`, `orrery_informer_process_errors_total{informer="things"} 3`,
			`orrery_reflector_lists_total{informer="things"} 4`, `orrery_reflector_watches_total{informer="things"} 5`,
			`orrery_reflector_events_total{informer="things"} 6`,
			`orrery_reflector_consecutive_failures{informer="things"} 7`)
		handler.Pending = 1
		stalled("h", 0)
		time.Sleep(30 * time.Second)
		stalled("h", 30)
		handler.Handled++
		stalled("h", 0) // one more is done
		handlers = handlers[1:]
		assert.Equal(t, 1, strings.Count(text(m), "\norrery_listener_stalled_seconds{"), "it was removed")
		stalled("h2", 90)
	})
}

// labelsOfSeries returns the labels of each time series that the program or Prometheus sets.
func labelsOfSeries() map[string][]string {
	labels := map[string][]string{}
	for _, name := range []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "go_goroutines"} {
		labels[name] = []string{"instance"} // the library's
	}
	for _, d := range metrics.Definitions() {
		known := append([]string{"instance"}, d.Labels...)
		if d.Kind == metrics.Histogram {
			labels[d.Name+"_sum"], labels[d.Name+"_count"] = known, known
			labels[d.Name+"_bucket"] = append(known, "le")
		} else {
			labels[d.Name] = known
		}
	}
	return labels
}

var (
	// expression matches one in a rule, in a panel or behind a question, which may be continued in
	// the next lines.
	expression = regexp.MustCompile(`(?:\bexpr"?:|\? \|) (.*(?:\n {11,}.*)*)`)
	labelValue = regexp.MustCompile(`[=~]\\?"[^"]*"`)
	labelList  = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)|\{([^}]*)\}`)
	metricName = regexp.MustCompile(`\b[a-z]+_[a-z_]+`)
	labelName  = regexp.MustCompile(`[a-z_]+`)
)

// Rules, dashboard and documentation use metrics that the program has, with labels that these have
// or that Prometheus adds. TestDefinitionsAreWhatIsWritten compares the definitions with the
// output. An expression that does not parse is not found here: that takes Prometheus' own parser,
// with its hundred modules.
func TestRulesAndDashboardAskForWhatThereIs(t *testing.T) {
	labels := labelsOfSeries()
	for file, least := range map[string]int{
		"deploy/monitoring/prometheusrule.yaml": 9, "deploy/monitoring/dashboard.json": 21,
		"docs/operate/observing.md": 9,
	} {
		text, err := os.ReadFile("../../../" + file)
		require.NoError(t, err)
		found := expression.FindAllStringSubmatch(string(text), -1)
		assert.GreaterOrEqual(t, len(found), least, file)
		if strings.HasSuffix(file, ".yaml") {
			assert.Equal(t, len(found), strings.Count(string(text), " for: "), "an alert waits")
		}
		for _, one := range found {
			bare := strings.ReplaceAll(labelValue.ReplaceAllString(one[1], ""), "histogram_quantile", "")
			var known []string
			for _, name := range metricName.FindAllString(labelList.ReplaceAllString(bare, ""), -1) {
				assert.Contains(t, labels, name, "there is no such metric: %s", one[1])
				known = append(known, labels[name]...)
			}
			assert.NotEmpty(t, known, one[1])
			for _, list := range labelList.FindAllStringSubmatch(bare, -1) {
				for _, label := range labelName.FindAllString(list[1]+list[2], -1) {
					assert.Contains(t, known, label, "there is no such label: %s", one[1])
				}
			}
		}
	}
}

func TestScrapesHaveALimit(t *testing.T) {
	m := metrics.New("")
	entered, release := make(chan struct{}), make(chan struct{})
	m.BeforeGather(func() {
		entered <- struct{}{}
		<-release
	})
	page := m.Handler()
	var scrapes sync.WaitGroup
	for range 4 {
		scrapes.Go(func() { answerOf(page) })
		<-entered
	}
	assert.Contains(t, answerOf(page), "Limit of concurrent requests reached")
	close(release)
	scrapes.Wait()
}
