package contract

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/fifo"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection"
	"k8s.io/component-base/metrics/prometheus/controllers"
	_ "k8s.io/component-base/metrics/prometheus/restclient"
	_ "k8s.io/component-base/metrics/prometheus/workqueue"

	"orrery/informer"
	"orrery/internal/observe/metrics"
	"orrery/restclient"
)

// gathered returns metrics by name.
func gathered(t *testing.T, from prometheus.Gatherer) map[string]*dto.MetricFamily {
	families, err := from.Gather()
	require.NoError(t, err)
	byName := map[string]*dto.MetricFamily{}
	for _, family := range families {
		byName[family.GetName()] = family
	}
	return byName
}

func labelNames(metric *dto.Metric) []string {
	var names []string
	for _, label := range metric.Label {
		names = append(names, label.GetName())
	}
	slices.Sort(names)
	return names
}

// bounds returns a histogram's upper bounds without infinity, which some exporters omit.
func bounds(metric *dto.Metric) []float64 {
	var bounds []float64
	for _, bucket := range metric.GetHistogram().GetBucket() {
		if !math.IsInf(bucket.GetUpperBound(), 1) {
			bounds = append(bounds, bucket.GetUpperBound())
		}
	}
	return bounds
}

// Metrics that Kubernetes defines have its name, type, labels and buckets, and the same work gives
// the same numbers.
func TestMetricsAreThoseOfKubernetes(t *testing.T) {
	server := httptest.NewServer(scriptedServer())
	defer server.Close()
	m := metrics.New("")
	askWithOurs(t, m, server.URL)
	askWithTheirs(t, server.URL)
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: "contract"})
	defer q.ShutDown()
	m.Queues()("contract")

	m.Leading("contract", true)
	leadWithTheirs(t)
	m.Running("contract", true)
	controllers.Register()
	controllers.NewControllerManagerMetrics("contract").ControllerStarted("contract")
	id := metrics.InformerID{Name: "contract", Version: "v1", Resource: "namespaces"}
	metrics.FIFO[string](m, id)
	m.Informer(id, func() informer.Snapshot { return informer.Snapshot{} })
	informWithTheirs(t)

	ours, theirs := gathered(t, m), gathered(t, legacyregistry.DefaultGatherer)
	compared := 0
	for _, definition := range metrics.Definitions() {
		if strings.HasPrefix(definition.Name, "orrery_") {
			continue
		}
		name := definition.Name
		if !assert.NotNil(t, ours[name], "%s: we have none", name) ||
			!assert.NotNil(t, theirs[name], "%s: Kubernetes has none", name) {
			continue
		}
		assert.Equal(t, theirs[name].GetType(), ours[name].GetType(), name)
		assert.Equal(t, labelNames(theirs[name].Metric[0]), labelNames(ours[name].Metric[0]), name)
		assert.Equal(t, bounds(theirs[name].Metric[0]), bounds(ours[name].Metric[0]), name)
		compared++
	}
	assert.Equal(t, 15, compared)

	for _, name := range []string{
		"rest_client_requests_total", "rest_client_request_retries_total",
		"rest_client_request_duration_seconds", "rest_client_rate_limiter_duration_seconds",
	} {
		assert.Equal(t, counted(theirs[name], server.URL), counted(ours[name], server.URL), name)
	}
}

// counted returns a family's numbers for one host by the other labels: the value of a counter, the
// count of a histogram.
func counted(family *dto.MetricFamily, server string) map[string]uint64 {
	counts := map[string]uint64{}
	for _, metric := range family.Metric {
		var labels []string
		here := false
		for _, label := range metric.Label {
			if label.GetName() == "host" {
				here = label.GetValue() == strings.TrimPrefix(server, "http://")
				continue
			}
			labels = append(labels, label.GetName()+"="+label.GetValue())
		}
		if here {
			slices.Sort(labels)
			counts[strings.Join(labels, ",")] += uint64(metric.GetCounter().GetValue()) +
				metric.GetHistogram().GetSampleCount()
		}
	}
	return counts
}

// scriptedServer answers the first request for /busy with Retry-After, and serves only /there and
// /busy.
func scriptedServer() http.Handler {
	asked := map[string]int{} // by user agent; requests are sequential
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/busy":
			asked[r.UserAgent()]++
			if asked[r.UserAgent()] == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
		case "/there":
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, "{}")
	})
}

// asked are the requests of both clients.
var asked = []restclient.Request{
	{Verb: "GET", Path: "/there"}, {Verb: "GET", Path: "/missing"}, {Verb: "GET", Path: "/busy"},
	{Verb: "PUT", Path: "/there", Body: []byte("{}")}, {Verb: "POST", Path: "/broken", Body: []byte("{}")},
}

func askWithOurs(t *testing.T, m *metrics.Metrics, server string) {
	client, err := restclient.New(restclient.Config{Host: server, Trace: m.Requests(server), QPS: 100, Burst: 100,
		UserAgent: "ours"})
	require.NoError(t, err)
	defer client.Close()
	for _, ask := range asked {
		_ = client.Do(context.Background(), ask, nil)
	}
}

func askWithTheirs(t *testing.T, server string) {
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server, QPS: 100, Burst: 100, UserAgent: "theirs"})
	require.NoError(t, err)
	client := clientset.CoreV1().RESTClient()
	for _, ask := range asked {
		request := client.Verb(ask.Verb).AbsPath(ask.Path)
		if ask.Body != nil {
			request = request.Body(ask.Body)
		}
		_, _ = request.DoRaw(context.Background())
	}
}

// leadWithTheirs leads one election with client-go.
func leadWithTheirs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: "contract",
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "kube-system", Name: "contract"},
			Client:     fake.NewClientset().CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { cancel() },
			OnStoppedLeading: func() {}},
	})
	require.NoError(t, err)
	elector.Run(ctx)
}

// informWithTheirs runs a named informer of client-go until it has synced.
func informWithTheirs(t *testing.T) {
	name, err := cache.NewInformerName("contract")
	require.NoError(t, err)
	defer name.Release()
	factory := informers.NewSharedInformerFactoryWithOptions(fake.NewClientset(), 0, informers.WithInformerName(name))
	namespaces := factory.Core().V1().Namespaces().Informer()
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	require.True(t, cache.WaitForCacheSync(ctx.Done(), namespaces.HasSynced))
	cancel()
	factory.Shutdown()
}
