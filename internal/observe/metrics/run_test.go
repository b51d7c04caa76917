package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/controller/gears"
	"orrery/controller/leaderelection"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/apiserver"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/nsctl"
	"orrery/nsctl/fast"
	"orrery/nsctl/nsctltest"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
	"orrery/wait"
)

// text returns what Prometheus reads.
func text(m *metrics.Metrics) string { return answerOf(m.Handler()) }

func answerOf(page http.Handler) string {
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}

// gather returns the families of metrics by name.
func gather(t *testing.T, m *metrics.Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := m.Gather()
	require.NoError(t, err)
	byName := map[string]*dto.MetricFamily{}
	for _, family := range families {
		byName[family.GetName()] = family
	}
	return byName
}

// has checks that the metrics have these lines.
func has(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	all := strings.Split(text(m), "\n")
	for _, line := range lines {
		name := line[:strings.IndexAny(line, "{ ")]
		isOther := func(one string) bool { return !strings.HasPrefix(one, name) }
		assert.Contains(t, slices.DeleteFunc(slices.Clone(all), isOther), line)
	}
}

// sum adds up the values of a counter, or the counts of a histogram.
func sum(families map[string]*dto.MetricFamily, name string) (all float64) {
	for _, metric := range families[name].GetMetric() {
		all += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
			float64(metric.GetHistogram().GetSampleCount())
	}
	return all
}

// world is a namespace controller with all its metrics on the built-in server.
type world struct {
	t       *testing.T
	metrics *metrics.Metrics
	server  *apiserver.Server
	user    *restclient.Client // not the controller's
}

// inWorld runs a test in a world, in a bubble. Requests go over pipes, which take no time.
func inWorld(t *testing.T, test func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
		require.NoError(t, err)
		pipes := restclienttest.NewServer(t, server.Handler())
		w := &world{t: t, metrics: metrics.New("v1.2.3"), server: server, user: pipes.Client()}
		t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
		w.start(pipes.Client(func(config *restclient.Config) {
			config.Trace = w.metrics.Requests(config.Host)
			config.QPS, config.Burst = 1000, 1000
		}))
		test(w)
	})
}

var id = metrics.InformerID{Name: "test", Version: "v1", Resource: "namespaces"}

// start runs the controller until the end of the test.
func (w *world) start(client *restclient.Client) {
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	shared := informer.NewSharedIndexInformer(namespaces, informer.Config[*api.Namespace]{
		Name:       "namespaces",
		Gears:      gears.Informer[*api.Namespace](gears.Set{}),
		Reflector:  reflector.Config[*api.Namespace]{Trace: w.metrics.Reflector("namespaces")},
		QueueTrace: metrics.FIFO[*api.Namespace](w.metrics, id),
	})
	w.metrics.Informer(id, shared.Snapshot)
	trace := nsctl.JoinTraces(logs.New(logs.Config{Writer: io.Discard}).Namespaces(), w.metrics.Namespaces())
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: shared,
		Deleter: fast.NewDeleter(nsctl.DeleterConfig{
			Namespaces: namespaces, Content: nsctl.NewContentClient(client),
			Discovery: nsctltest.NewDiscovery(client), Trace: trace,
		}),
		Pool:  controller.PoolConfig{QueueMetrics: w.metrics.Queues()},
		Trace: trace,
	})
	require.NoError(w.t, err)
	w.metrics.Deleting(controller.Deleting, controller.OldestDeletion)
	w.metrics.BeforeGather(controller.UpdateMetrics)

	var running sync.WaitGroup
	running.Go(func() { shared.Run(w.t.Context()) })
	running.Go(func() { controller.Run(w.t.Context()) })
	w.t.Cleanup(running.Wait)
	synctest.Wait()
}

// create creates a namespace, and an object in it.
func (w *world) create(namespace, kind, resource, metadata string) {
	post := func(path, kind, metadata string) {
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":%s}`, kind, metadata)
		request := restclient.Request{Verb: "POST", Path: "/api/v1/namespaces" + path, Body: []byte(body)}
		require.NoError(w.t, w.user.Do(w.t.Context(), request, nil))
	}
	post("", "Namespace", fmt.Sprintf(`{"name":%q}`, namespace))
	post("/"+namespace+"/"+resource, kind, metadata)
}

func (w *world) delete(name string) {
	require.NoError(w.t, restclient.Typed[*api.Namespace](w.user, api.NamespacesResource, "").Delete(w.t.Context(),
		name, api.DeleteOptions{}))
}

// The metrics of one deletion, from beginning to end. Names of namespaces and objects, their UIDs
// and paths never appear in a metric: not in a deletion that succeeds, nor in one that a finalizer
// blocks, nor in one whose requests fail.
func TestADeletionInFigures(t *testing.T) {
	const canary = "canary-7f3a"
	inWorld(t, func(w *world) {
		t := w.t
		w.create(canary+"-plain", "ConfigMap", "configmaps", `{"name":"`+canary+`"}`)
		synctest.Wait()
		has(t, w.metrics, "orrery_deletions_in_progress 0", `orrery_informer_synced{informer="namespaces"} 1`)
		requests := sum(gather(t, w.metrics), "rest_client_requests_total")

		w.delete(canary + "-plain")
		time.Sleep(4 * time.Second)
		has(t, w.metrics,
			"orrery_deletions_in_progress 1", "orrery_oldest_deletion_seconds 4", "orrery_deletions_total 0",
			`workqueue_retries_total{name="namespace"} 1`, // the pass after the grace period
			`workqueue_adds_total{name="namespace"} 0`,    // which is not due yet
		)
		time.Sleep(2 * time.Second)
		has(t, w.metrics,
			"orrery_deletions_in_progress 0", "orrery_deletions_total 1", "orrery_deletion_duration_seconds_sum 5",
			`orrery_passes_total{result="done"} 1`, `orrery_passes_total{result="failed"} 0`,
			`orrery_namespace_finalizations_total{result="success"} 1`,
			`orrery_deletion_phase_seconds_sum{phase="grace"} 5`,
			`workqueue_work_duration_seconds_count{name="namespace"} 1`, "orrery_pass_requests_count 1",
			`orrery_listener_backlog{handler="namespace controller",informer="namespaces"} 0`,
			`informer_queued_items{group="",name="test",resource="namespaces",version="v1"} 0`,
		)
		for _, phase := range strings.Fields("grace reading discovery emptiness_check pods content finalization") {
			has(t, w.metrics, fmt.Sprintf(`orrery_deletion_phase_seconds_count{phase=%q} 1`, phase))
		}
		after := gather(t, w.metrics)
		sent := sum(after, "rest_client_requests_total")
		// every request since then is the pass's
		has(t, w.metrics, fmt.Sprint("orrery_pass_requests_sum ", sent-requests))
		assert.Equal(t, sent-1, sum(after, "rest_client_request_duration_seconds"), "all but the watch")
		assert.Equal(t, sent-1, sum(after, "rest_client_rate_limiter_duration_seconds"))
		assert.Equal(t, sum(after, "orrery_reflector_events_total"), sum(after, "orrery_listener_handled_total"),
			"each change went to the one handler")
		assert.Regexp(t, `(?m)^orrery_build_info{.*version="v1.2.3"} 1`, text(w.metrics))
		assert.Regexp(t, `(?m)^informer_processing_latency_seconds_count{.*} [1-9]`, text(w.metrics))

		const name = `{"name":"` + canary + `","finalizers":["example.org/` + canary + `"]}`
		w.create(canary+"-held", "ConfigMap", "configmaps", name)
		w.create(canary+"-failing", "Secret", "secrets", name)
		_, err := w.server.Faults().Add("forbid:namespace=" + canary + "-failing,resource=secrets")
		require.NoError(t, err)
		w.delete(canary + "-held")
		w.delete(canary + "-failing")
		time.Sleep(time.Minute)
		all := text(w.metrics)
		has(t, w.metrics, "orrery_deletions_in_progress 2") // one is held, one fails
		assert.Regexp(t, `orrery_passes_total{result="failed"} [1-9]`, all)
		assert.Regexp(t, `orrery_passes_total{result="remaining"} [1-9]`, all)
		assert.NotContains(t, all, canary)
		assert.NotContains(t, all, "/api", "no paths")

		list, err := restclient.Typed[*api.Namespace](w.user, api.NamespacesResource, "").List(t.Context(),
			api.ListOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items)
		for _, namespace := range list.Items {
			assert.NotContains(t, all, namespace.UID)
		}
		for name, family := range gather(t, w.metrics) {
			assert.LessOrEqual(t, len(family.Metric), 40, "%s has too many values: there are 31 types", name)
		}
	})
}

// A counter that appears with its first increase hides it: rate and increase compare with the
// scrape before.
func TestCountersExistBeforeAnythingIsCounted(t *testing.T) {
	m := metrics.New("")
	m.Namespaces().TypeDeleted("ns", api.PodsResource, 0, nil)
	m.Reflector("namespaces")
	m.Controller("things")
	m.Running("things", false)
	for line := range strings.FieldsSeq(`
		orrery_content_failures_total{resource="pods"} orrery_events_recorded_total
		orrery_reflector_errors_total{cause="Expired",informer="namespaces"}
		orrery_reflector_errors_total{cause="Unknown",informer="namespaces"}
		orrery_reflector_errors_total{cause="Unreachable",informer="namespaces"}
		orrery_passes_total{result="done"} orrery_passes_total{result="timed_out"}
		orrery_controller_passes_total{controller="things",result="panicked"}
		running_managed_controllers{manager="orrery",name="things"}
		orrery_dropped_trace_events_total{by="events",reason="queue_full"}
		orrery_dropped_trace_events_total{by="events",reason="given_up"}
		orrery_dropped_trace_events_total{by="logs",reason="writer"} orrery_namespace_conflicts_total
		orrery_namespace_finalizations_total{result="success"}
		orrery_namespace_finalizations_total{result="failure"}`) {
		has(t, m, line+" 0")
	}
	for _, phase := range nsctl.Phases() {
		has(t, m, fmt.Sprintf(`orrery_deletion_phase_seconds_count{phase=%q} 0`, phase))
	}
}

func TestFailuresAreCounted(t *testing.T) {
	m := metrics.New("")
	trace := m.Namespaces()
	pods := api.PodsResource
	deployments := api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	trace.Discovered("ns", 30, nil)
	trace.Discovered("ns", 31, nil)
	trace.Discovered("ns", 30, errors.New("a group is down"))
	trace.TypeDeleted("ns", pods, 0, nil)
	trace.TypeDeleted("ns", pods, 0, errors.New("refused"))
	trace.TypeDeleted("ns", deployments, 0, errors.New("refused"))
	trace.Conflict("ns", errors.New("changed"))
	trace.ConditionsFailed("ns", errors.New("refused"))
	trace.Finalized("ns", nil)
	trace.Finalized("ns", api.NewStatusError(api.Status{Code: 404, Reason: api.ReasonNotFound}))
	trace.Finalized("ns", errors.New("refused"))
	trace.PassStuck("ns", controller.StuckAfter, 3)
	trace.PassStuck("ns", 2*controller.StuckAfter, 3)
	trace.PassStuck("ns", 3*controller.StuckAfter, 3)
	for _, err := range []error{
		nil, &nsctl.ResourcesRemainingError{Estimate: 3}, errors.New("refused"),
		fmt.Errorf("wrapped: %w", &wait.Panic{}),
		controller.ErrPassTimeout, controller.ErrCutShort, context.Canceled, &leaderelection.LostError{},
	} {
		trace.PassDone("ns", time.Second, 0, err)
	}
	m.Reflector("namespaces").BackOff(time.Second, api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired}))
	m.Leading("orrery", true)
	m.Leading("other", false)
	for range 2 { // the controllers and the process have a recorder each
		m.Events(func() events.Snapshot {
			return events.Snapshot{Recorded: 6, Dropped: map[events.Drop]int64{events.DropQueueFull: 3}}
		})
	}
	m.LostLines(func() int64 { return 4 })

	has(t, m,
		`orrery_passes_total{result="cut_short"} 3`, "orrery_discovery_failures_total 1",
		"orrery_namespace_conflicts_total 1", "orrery_namespace_report_failures_total 1", "orrery_passes_stuck_total 1",
		"orrery_events_recorded_total 12",
		`orrery_content_failures_total{resource="pods"} 1`,
		`orrery_content_failures_total{resource="deployments.apps"} 1`,
		`orrery_namespace_finalizations_total{result="success"} 2`,
		`orrery_namespace_finalizations_total{result="failure"} 1`,
		`orrery_reflector_errors_total{cause="Expired",informer="namespaces"} 1`,
		`leader_election_master_status{name="orrery"} 1`, `leader_election_master_status{name="other"} 0`,
		`orrery_dropped_trace_events_total{by="events",reason="queue_full"} 6`,
		`orrery_dropped_trace_events_total{by="logs",reason="writer"} 4`,
	)
	m.Controller("things").PassDone("a", time.Second, 0, 0, errors.New("refused"))
	has(t, m, `orrery_controller_passes_total{controller="things",result="failed"} 1`)
	for _, result := range strings.Fields("done remaining failed panicked timed_out") {
		has(t, m, fmt.Sprintf(`orrery_passes_total{result=%q} 1`, result))
	}
	m.Leading("orrery", false)
	has(t, m, `leader_election_master_status{name="orrery"} 0`)
}
