package metrics_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/controller/gears"
	"orrery/controller/leaderelection"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/apiserver"
	"orrery/internal/observe/metrics"
	"orrery/nsctl"
	"orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/restclienttest"
	"orrery/wait"
)

// scrape reads metrics as Prometheus does.
func scrape(t require.TestingT, m *metrics.Metrics) map[string]*dto.MetricFamily {
	return parse(t, text(t, m))
}

func text(t require.TestingT, m *metrics.Metrics) string {
	var out bytes.Buffer
	require.NoError(t, m.WriteText(&out))
	return out.String()
}

func parse(t require.TestingT, text string) map[string]*dto.MetricFamily {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err, text)
	return families
}

// of returns the one metric of a family with these labels, given as name=value.
func of(t require.TestingT, families map[string]*dto.MetricFamily, name string, labels ...string) *dto.Metric {
	require.Contains(t, families, name)
	for _, metric := range families[name].Metric {
		var has []string
		for _, label := range metric.Label {
			has = append(has, label.GetName()+"="+label.GetValue())
		}
		if !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(has, l) }) {
			return metric
		}
	}
	require.Fail(t, fmt.Sprintf("%s has nothing with %q", name, labels))
	return nil
}

func counter(t require.TestingT, families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	return of(t, families, name, labels...).GetCounter().GetValue()
}

func gauge(t require.TestingT, families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	return of(t, families, name, labels...).GetGauge().GetValue()
}

func histogram(t require.TestingT, families map[string]*dto.MetricFamily, name string, labels ...string) *dto.Histogram {
	return of(t, families, name, labels...).GetHistogram()
}

// world is a namespace controller with all its metrics on the built-in server, in a synctest
// bubble.
type world struct {
	t          *testing.T
	metrics    *metrics.Metrics
	server     *apiserver.Server
	client     *restclient.Client // the controller's
	user       *restclient.Client // of another client
	controller *nsctl.Controller
	stop       func()
}

// inWorld runs a test in a world. Requests go over pipes, which take no time.
func inWorld(t *testing.T, test func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
		require.NoError(t, err)
		pipes := restclienttest.NewServer(t, server.Handler())
		w := &world{t: t, metrics: metrics.New("v1.2.3"), server: server}
		w.client = pipes.Client(func(config *restclient.Config) {
			config.Trace = w.metrics.Requests(config.Host)
			config.QPS, config.Burst = 1000, 1000
		})
		w.user = pipes.Client()
		w.start()
		t.Cleanup(func() {
			w.stop()
			assert.NoError(t, server.Stop(context.Background()))
		})
		test(w)
	})
}

var id = metrics.InformerID{Name: "test", Version: "v1", Resource: "namespaces"}

func (w *world) start() {
	namespaces := restclient.Typed[*api.Namespace](w.client, api.NamespacesResource, "")
	shared := informer.NewSharedIndexInformer(namespaces, informer.Config[*api.Namespace]{
		Name:       "namespaces",
		Gears:      gears.Informer[*api.Namespace](gears.Set{}),
		Reflector:  reflector.Config[*api.Namespace]{Trace: w.metrics.Reflector("namespaces")},
		QueueTrace: metrics.FIFO[*api.Namespace](w.metrics, id),
	})
	w.metrics.Informer(id, shared.Snapshot)
	trace := w.metrics.Namespaces()
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: shared,
		Deleter: fast.NewDeleter(nsctl.DeleterConfig{
			Namespaces: namespaces,
			Content:    nsctl.NewContentClient(w.client),
			Discovery:  discovery.NewCached(discovery.NewWithConfig(w.client, discovery.Config{OnlyWhenReady: true})),
			Trace:      trace,
		}),
		QueueMetrics: w.metrics.Queues(),
		Trace:        trace,
	})
	require.NoError(w.t, err)
	w.controller = controller
	w.metrics.Deleting(controller.Deleting, controller.OldestDeletion)
	w.metrics.BeforeGather(controller.UpdateMetrics)

	informerCtx, stopInformer := context.WithCancel(context.Background())
	controllerCtx, stopController := context.WithCancel(context.Background())
	var informers, controllers sync.WaitGroup
	informers.Go(func() { shared.Run(informerCtx) })
	controllers.Go(func() { controller.Run(controllerCtx) })
	w.stop = func() {
		stopController()
		controllers.Wait()
		stopInformer()
		informers.Wait()
	}
	synctest.Wait()
}

func (w *world) create(name string, configMaps ...string) {
	w.request("POST", "/api/v1/namespaces", fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name))
	for _, configMap := range configMaps {
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, configMap)
		w.request("POST", "/api/v1/namespaces/"+name+"/configmaps", body)
	}
}

func (w *world) request(verb, path, body string) {
	require.NoError(w.t, w.user.Do(w.t.Context(), restclient.Request{Verb: verb, Path: path, Body: []byte(body)}, nil))
}

func (w *world) delete(name string) {
	require.NoError(w.t, restclient.Typed[*api.Namespace](w.user, api.NamespacesResource, "").Delete(w.t.Context(), name, api.DeleteOptions{}))
}

// The metrics of one deletion, from beginning to end.
func TestADeletionInFigures(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.create("first", "a", "b")
		w.create("second")
		synctest.Wait()
		before := scrape(t, w.metrics)
		assert.Equal(t, 0.0, gauge(t, before, "orrery_deletions_in_progress"))
		assert.Equal(t, 1.0, gauge(t, before, "orrery_informer_synced", "informer=namespaces"))
		requests := counter(t, before, "rest_client_requests_total", "code=200", "method=GET")

		w.delete("first")
		time.Sleep(4 * time.Second)
		waiting := scrape(t, w.metrics)
		assert.Equal(t, 1.0, gauge(t, waiting, "orrery_deletions_in_progress"))
		assert.Equal(t, 4.0, gauge(t, waiting, "orrery_oldest_deletion_seconds"))
		assert.Equal(t, 0.0, counter(t, waiting, "orrery_deletions_total"))
		assert.Equal(t, 1.0, counter(t, waiting, "workqueue_retries_total", "name=namespace"), "the pass after the grace period")
		assert.Equal(t, 0.0, counter(t, waiting, "workqueue_adds_total", "name=namespace"), "which is not due yet")

		time.Sleep(2 * time.Second)
		after := scrape(t, w.metrics)
		assert.Equal(t, 0.0, gauge(t, after, "orrery_deletions_in_progress"))
		assert.Equal(t, 1.0, counter(t, after, "orrery_deletions_total"))
		assert.Equal(t, 5.0, histogram(t, after, "orrery_deletion_duration_seconds").GetSampleSum())
		assert.Equal(t, 1.0, counter(t, after, "orrery_passes_total", "result=done"))
		assert.Equal(t, 0.0, counter(t, after, "orrery_passes_total", "result=failed"))
		assert.Equal(t, 1.0, counter(t, after, "orrery_namespace_finalizations_total", "result=success"))
		grace := histogram(t, after, "orrery_deletion_phase_seconds", "phase=grace")
		assert.EqualValues(t, 1, grace.GetSampleCount())
		assert.Equal(t, 5.0, grace.GetSampleSum())
		for _, phase := range []string{"reading", "discovery", "emptiness_check", "pods", "content", "finalization"} {
			assert.EqualValues(t, 1, histogram(t, after, "orrery_deletion_phase_seconds", "phase="+phase).GetSampleCount(), phase)
		}
		assert.EqualValues(t, 1, histogram(t, after, "workqueue_work_duration_seconds", "name=namespace").GetSampleCount())

		perPass := histogram(t, after, "orrery_pass_requests")
		assert.EqualValues(t, 1, perPass.GetSampleCount())
		var sent float64
		for _, metric := range after["rest_client_requests_total"].Metric {
			sent += metric.GetCounter().GetValue()
		}
		assert.Equal(t, sent-requests, perPass.GetSampleSum(), "every request since then belongs to the pass")
		assert.Equal(t, sent-1, sumOfCounts(after, "rest_client_request_duration_seconds"), "all but the watch")
		assert.Equal(t, sent-1, sumOfCounts(after, "rest_client_rate_limiter_duration_seconds"))
		assert.Positive(t, histogram(t, after, "rest_client_request_size_bytes", "verb=PUT").GetSampleSum(), "finalize has a body")
		assert.Positive(t, histogram(t, after, "rest_client_response_size_bytes", "verb=GET").GetSampleSum())

		assert.Equal(t, counter(t, after, "orrery_reflector_events_total"), counter(t, after, "orrery_listener_handled_total"),
			"each change went to the one handler")
		assert.Equal(t, 0.0, gauge(t, after, "orrery_listener_backlog"))
		assert.Equal(t, 0.0, gauge(t, after, "informer_queued_items", "resource=namespaces", "version=v1", "group=", "name=test"))
		assert.Positive(t, gauge(t, after, "informer_store_resource_version"))
		assert.Positive(t, histogram(t, after, "informer_processing_latency_seconds").GetSampleCount())
		assert.Equal(t, 1.0, gauge(t, after, "orrery_build_info", "version=v1.2.3"))
	})
}

func sumOfCounts(families map[string]*dto.MetricFamily, name string) float64 {
	var sum float64
	for _, metric := range families[name].Metric {
		sum += float64(metric.GetHistogram().GetSampleCount())
	}
	return sum
}

// Names of namespaces and objects, their UIDs and paths never appear in a metric: not in a
// deletion that succeeds, nor in one that a finalizer blocks, nor in one whose requests fail.
func TestNoNameIsInAnyMetric(t *testing.T) {
	const canary = "canary-7f3a"
	inWorld(t, func(w *world) {
		t := w.t
		w.create(canary+"-plain", canary+"-configmap")
		w.create(canary + "-held")
		w.request("POST", "/api/v1/namespaces/"+canary+"-held/configmaps",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+canary+`","finalizers":["example.org/`+canary+`"]}}`)
		w.create(canary + "-failing")
		w.request("POST", "/api/v1/namespaces/"+canary+"-failing/secrets", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"`+canary+`"}}`)
		_, err := w.server.Faults().Add("forbid:namespace=" + canary + "-failing,resource=secrets")
		require.NoError(t, err)
		for _, name := range []string{"-plain", "-held", "-failing"} {
			w.delete(canary + name)
		}
		time.Sleep(time.Minute)
		all := text(t, w.metrics)
		families := parse(t, all)
		assert.Equal(t, 2.0, gauge(t, families, "orrery_deletions_in_progress"), "one is held, one fails")
		assert.Positive(t, counter(t, families, "orrery_passes_total", "result=failed"))
		assert.Positive(t, counter(t, families, "orrery_content_failures_total", "resource=secrets"))
		assert.Positive(t, counter(t, families, "orrery_passes_total", "result=remaining"))
		assert.NotContains(t, all, canary)
		assert.NotContains(t, all, "/api", "no paths")

		list, err := restclient.Typed[*api.Namespace](w.user, api.NamespacesResource, "").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items)
		for _, namespace := range list.Items {
			assert.NotContains(t, all, namespace.UID)
		}
		for name, family := range families {
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
	families := scrape(t, m)
	for name, labels := range map[string][]string{
		"orrery_content_failures_total":        {"resource=pods"},
		"orrery_reflector_errors_total":        {"cause=Expired", "cause=Unknown", "cause=Unreachable"},
		"orrery_passes_total":                  {"result=done", "result=timed_out"},
		"orrery_events_recorded_total":         {""},
		"orrery_dropped_trace_events_total":    {"reason=queue_full", "reason=given_up", "reason=writer"},
		"orrery_namespace_conflicts_total":     {""},
		"orrery_namespace_finalizations_total": {"result=success", "result=failure"},
	} {
		for _, label := range labels {
			assert.Zero(t, counter(t, families, name, slices.DeleteFunc([]string{label}, func(l string) bool { return l == "" })...), "%s %s", name, label)
		}
	}
	for _, phase := range nsctl.Phases() {
		assert.Zero(t, histogram(t, families, "orrery_deletion_phase_seconds", "phase="+string(phase)).GetSampleCount())
	}
}

func TestFailuresAreCounted(t *testing.T) {
	m := metrics.New("")
	trace := m.Namespaces()
	pods := api.PodsResource
	deployments := api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	trace.Discovered("ns", 30, nil)
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
	for _, err := range []error{
		nil, &nsctl.ResourcesRemainingError{Estimate: 3}, errors.New("refused"), fmt.Errorf("wrapped: %w", &wait.Panic{}),
		controller.ErrPassTimeout, controller.ErrCutShort, context.Canceled, &leaderelection.LostError{},
	} {
		trace.PassDone("ns", time.Second, 0, err)
	}
	m.Reflector("namespaces").BackOff(time.Second, api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired}))
	m.Leading("orrery", true)
	m.SlowPath("orrery")
	m.Leading("other", false)
	for range 2 { // the controllers and the process have a recorder each
		m.Events(func() events.Snapshot {
			return events.Snapshot{Created: 4, Counted: 2, Dropped: map[events.Drop]int64{events.DropQueueFull: 3}}
		})
	}
	m.LostLines(func() int64 { return 4 })

	families := scrape(t, m)
	for name, want := range map[string]float64{
		"orrery_discovery_failures_total": 1, "orrery_namespace_conflicts_total": 1, "orrery_namespace_report_failures_total": 1,
		"orrery_passes_stuck_total": 1, "orrery_events_recorded_total": 12,
	} {
		assert.Equal(t, want, counter(t, families, name), name)
	}
	assert.Equal(t, 1.0, counter(t, families, "orrery_content_failures_total", "resource=pods"))
	assert.Equal(t, 1.0, counter(t, families, "orrery_content_failures_total", "resource=deployments.apps"))
	assert.Equal(t, 2.0, counter(t, families, "orrery_namespace_finalizations_total", "result=success"))
	assert.Equal(t, 1.0, counter(t, families, "orrery_namespace_finalizations_total", "result=failure"))
	for result, want := range map[string]float64{"done": 1, "remaining": 1, "failed": 1, "panicked": 1, "timed_out": 1, "cut_short": 3} {
		assert.Equal(t, want, counter(t, families, "orrery_passes_total", "result="+result), result)
	}
	assert.Equal(t, 1.0, counter(t, families, "orrery_reflector_errors_total", "informer=namespaces", "cause=Expired"))
	assert.Equal(t, 1.0, gauge(t, families, "leader_election_master_status", "name=orrery"))
	assert.Equal(t, 1.0, counter(t, families, "leader_election_slowpath_total", "name=orrery"))
	assert.Equal(t, 0.0, gauge(t, families, "leader_election_master_status", "name=other"))
	assert.Equal(t, 6.0, counter(t, families, "orrery_dropped_trace_events_total", "by=events", "reason=queue_full"))
	assert.Equal(t, 4.0, counter(t, families, "orrery_dropped_trace_events_total", "by=logs"))
	m.Leading("orrery", false)
	assert.Equal(t, 0.0, gauge(t, scrape(t, m), "leader_election_master_status", "name=orrery"))
}
