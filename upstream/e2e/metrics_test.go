package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/metrics"
	"orrery/upstream/controlplane"
)

// window is the debug server of a run of orrery.
type window struct {
	*program
	address string
	client  *http.Client
}

// get returns a page; code 0 means that there was no answer.
func (w *window) get(path string) (code int, body string) {
	answer, err := w.client.Get("http://" + w.address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

// scrape reads the metrics with Prometheus' own parser.
func (w *window) scrape() map[string]*dto.MetricFamily {
	w.t.Helper()
	code, text := w.get("/metrics")
	require.Equal(w.t, http.StatusOK, code, text)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(w.t, err)
	return families
}

// sum adds up the values of a family with these labels, given as name=value: the value of counters
// and gauges, the count of histograms.
func sum(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	var total float64
	if families[name] == nil {
		return -1
	}
	for _, metric := range families[name].Metric {
		var has []string
		for _, label := range metric.Label {
			has = append(has, label.GetName()+"="+label.GetValue())
		}
		if !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(has, l) }) {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return total
}

// awaitMetric blocks until a metric has the value.
func (w *window) awaitMetric(want float64, name string, labels ...string) {
	w.t.Helper()
	w.awaitHealth("/livez", http.StatusOK, "ok")
	eventually(w.t, fmt.Sprintf("%s %q is %v", name, labels, want), w.Done(), func() (bool, error) {
		return sum(w.scrape(), name, labels...) == want, nil
	})
}

// awaitHealth blocks until a health endpoint answers with the code and the text.
func (w *window) awaitHealth(path string, code int, part string) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("%s answers %d ... %s", path, code, part), nil, func() (bool, error) {
		got, body := w.get(path)
		return got == code && strings.Contains(body, part), nil
	})
}

// observed starts orrery with its debug server on a free port.
func observed(t *testing.T, kubeconfig string, args ...string) *window {
	t.Helper()
	port := strconv.Itoa(freePort(t))
	p := runOrrery(t, kubeconfig, append([]string{"--allow-second-controller", "--metrics-port=" + port, "--namespace-deletion-grace-period=1s"}, args...)...)
	w := &window{program: p, address: "127.0.0.1:" + port, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	t.Cleanup(w.client.CloseIdleConnections)
	return w
}

// silentServer returns the kubeconfig file of a server that accepts connections and never answers.
func silentServer(t *testing.T) (kubeconfig string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	kubeconfig = filepath.Join(t.TempDir(), "silent.kubeconfig")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "silent",
"clusters": [{"name": "silent", "cluster": {"server": "http://%s"}}], "users": [{"name": "stranger", "user": {}}],
"contexts": [{"name": "silent", "context": {"cluster": "silent", "user": "stranger"}}]}`, listener.Addr())
	require.NoError(t, os.WriteFile(kubeconfig, []byte(text), 0o600))
	return kubeconfig
}

// The metrics of a run that deletes namespaces on a real control plane have the right values.
func TestMetricsOfARun(t *testing.T) {
	tr := onControlPlane(t, controlplane.Config{})
	w := observed(t, tr.cluster.Kubeconfig(), "--leader-elect=true")
	w.AwaitOutput("metrics and health are served", w.address)

	const canary = "canary-7f3a"
	w.awaitMetric(1, "orrery_informer_synced")
	w.awaitMetric(1, "leader_election_master_status")
	tr.createNamespace(canary)
	tr.createConfigMap(canary, canary+"-content")
	tr.deleteNamespace(canary)
	tr.awaitGone(canary)
	w.awaitMetric(1, "orrery_deletions_total")
	w.awaitMetric(0, "orrery_deletions_in_progress")
	w.awaitMetric(2, "orrery_events_recorded_total") // the leader, and the end of the namespace

	families := w.scrape()
	assert.Equal(t, 1.0, sum(families, "orrery_namespace_finalizations_total", "result=success"))
	assert.GreaterOrEqual(t, sum(families, "orrery_passes_total", "result=done"), 1.0)
	assert.Equal(t, 1.0, sum(families, "orrery_deletion_phase_seconds", "phase=grace"))
	assert.GreaterOrEqual(t, sum(families, "workqueue_adds_total", "name=namespace"), 1.0)
	assert.GreaterOrEqual(t, sum(families, "orrery_pass_requests"), 1.0)
	assert.GreaterOrEqual(t, sum(families, "rest_client_requests_total", "code=200", "method=GET"), 5.0)
	assert.GreaterOrEqual(t, sum(families, "rest_client_request_duration_seconds", "verb=PUT"), 1.0)
	assert.Positive(t, sum(families, "informer_store_resource_version", "resource=namespaces", "version=v1"))
	assert.Zero(t, sum(families, "orrery_dropped_trace_events_total"))
	for _, definition := range metrics.Definitions() {
		if family := families[definition.Name]; family != nil {
			assert.Equal(t, string(definition.Kind), strings.ToLower(family.GetType().String()), definition.Name)
		}
	}

	_, text := w.get("/metrics")
	assert.NotContains(t, text, canary, "no metric names a namespace or an object")
	code, gears := w.get("/debug/orrery?pretty")
	assert.Equal(t, http.StatusOK, code)
	for _, gear := range []string{"client", "informer", "fifo", "store", "controllers", "controller", "election", "events"} {
		assert.Contains(t, gears, "\n  \""+gear+"\": ")
	}
	assert.Contains(t, gears, `"kube-system"`, "this page does name namespaces")
	code, _ = w.get("/debug/pprof/")
	assert.Equal(t, http.StatusNotFound, code, "profiles are off by default")
}

// Health in every phase of a run: before there is a server, at work, without its server, and at the
// end.
func TestHealthOfARun(t *testing.T) {
	tr := onControlPlane(t, controlplane.Config{})
	cp := tr.controlPlane()
	before := observed(t, silentServer(t), "--leader-elect=false")
	before.awaitHealth("/livez", http.StatusOK, "ok")
	before.awaitHealth("/readyz", http.StatusInternalServerError, "[-]informer-sync failed: no informer has been started yet")
	before.Kill()

	// On a busy machine it is without its server for longer than a leader goes on by default.
	w := observed(t, cp.Kubeconfig(), "--leader-elect=true", "--leader-elect-lease-duration=3m", "--leader-elect-renew-deadline=2m")
	w.awaitHealth("/readyz?verbose", http.StatusOK, "[+]ping ok\n[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n")
	w.awaitHealth("/livez?verbose", http.StatusOK, "[+]ping ok\n[+]namespace-controller ok\n[+]leaderElection ok\nlivez check passed\n")
	w.awaitHealth("/healthz", http.StatusOK, "ok")

	standby := observed(t, cp.Kubeconfig(), "--leader-elect=true")
	standby.awaitHealth("/readyz", http.StatusOK, "ok")
	standby.awaitMetric(0, "leader_election_master_status")
	standby.awaitMetric(1, "orrery_informer_synced")
	standby.Stop(t.Context())

	cp.KillAPIServer()
	eventually(t, "the reflector has failed", w.Done(), func() (bool, error) {
		return sum(w.scrape(), "orrery_reflector_consecutive_failures") > 0, nil
	})
	code, _ := w.get("/livez")
	assert.Equal(t, http.StatusOK, code, "without its server the program stays live")
	code, _ = w.get("/readyz")
	assert.Equal(t, http.StatusOK, code, "the caches are unchanged")
	require.NoError(t, cp.StartAPIServer(t.Context()))

	w.Kill()

	through, blocker := tr.fillBehindRelay("held", cp.Kubeconfig())
	last := observed(t, through, "--leader-elect=false")
	tr.deleteNamespace("held")
	blocker.AwaitReached()
	last.Signal(syscall.SIGTERM)
	last.awaitHealth("/readyz?verbose", http.StatusInternalServerError, "[-]shutdown failed: the process is stopping")
	last.awaitHealth("/livez", http.StatusOK, "ok")
	blocker.Release()
	assert.Equal(t, 0, last.AwaitExit())
	code, _ = last.get("/livez")
	assert.Zero(t, code, "the debug server has stopped")
}
