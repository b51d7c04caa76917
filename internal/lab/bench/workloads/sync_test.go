package workloads

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/restclient/api"
)

func generated(cfg SyncConfig) (pods []api.ObjectMeta) {
	generate(cfg, func(_ []byte, head *api.ObjectMeta) { pods = append(pods, *head) })
	return pods
}

func digestOfPods(pods []api.ObjectMeta) PodDigest {
	var d PodDigest
	for _, pod := range pods {
		d.Add(pod)
	}
	return d
}

func TestGenerator(t *testing.T) {
	names, deployed := map[string]bool{}, map[string]int{}
	generate(SyncConfig{Objects: 1000, Seed: 1}, func(text []byte, head *api.ObjectMeta) {
		var pod api.PartialObjectMetadata
		require.NoError(t, json.Unmarshal(text, &pod))
		assert.Contains(t, string(text), `"f:podIPs":{".":{},"k:{\"ip\":\"`+pod.Annotations["cni.projectcalico.org/podIP"][:7])
		assert.NotContains(t, string(text), "%!")
		pod.ManagedFields = api.ManagedFields{}
		assert.Equal(t, *head, pod.ObjectMeta)
		names[pod.Namespace+"/"+pod.Name] = true
		deployed[pod.OwnerReferences[0].UID]++
		assert.True(t, 2000 < len(text) && len(text) < 4000, "%d bytes", len(text))
		assert.True(t, strings.HasPrefix(pod.Name, pod.GenerateName))
	})
	assert.Len(t, names, 1000)
	assert.Len(t, deployed, 200)
	same := generated(SyncConfig{Objects: 1000, Seed: 1})
	assert.Equal(t, same, generated(SyncConfig{Objects: 1000, Seed: 1}))
	assert.NotEqual(t, same, generated(SyncConfig{Objects: 1000, Seed: 2}))
}

// The digest covers everything but the managed fields, in any order.
func TestDigest(t *testing.T) {
	pods := generated(SyncConfig{Objects: 20})
	whole := digestOfPods(pods)
	assert.NotEqual(t, whole, digestOfPods(pods[1:]))
	slices.Reverse(pods)
	pods[3].ManagedFields = api.NewManagedFields([]byte("[]"))
	assert.Equal(t, whole, digestOfPods(pods))
	for name, change := range map[string]func(*api.ObjectMeta){
		"name": func(p *api.ObjectMeta) { p.Name += "x" }, "generation": func(p *api.ObjectMeta) { p.Generation++ },
		"labels":   func(p *api.ObjectMeta) { p.Labels = map[string]string{"a": "b"} },
		"no owner": func(p *api.ObjectMeta) { p.OwnerReferences = nil },
	} {
		changed := generated(SyncConfig{Objects: 20})
		change(&changed[7])
		assert.NotEqual(t, whole, digestOfPods(changed), name)
	}
}

// serveHere serves in this process.
func serveHere(t *testing.T, cfg SyncConfig) (url string, served *podServer) {
	served = newPodServer(cfg)
	server := httptest.NewServer(served)
	t.Cleanup(server.Close)
	return server.URL, served
}

// This project's client reads the generated pods back.
func TestServer(t *testing.T) {
	cfg := SyncConfig{Objects: 30}
	url, served := serveHere(t, cfg)
	informer, err := FastSync().Start(url)
	require.NoError(t, err)
	defer informer.Stop()
	require.NoError(t, informer.WaitForSync(t.Context()))
	proof, err := proveSync(t.Context(), informer, served.digest)
	require.NoError(t, err)
	assert.Contains(t, proof, "30 pods in the cache and delivered to the handler")
	assert.Contains(t, proof, digestOfPods(generated(cfg)).String())
}

func TestServerRefuses(t *testing.T) {
	url, _ := serveHere(t, SyncConfig{Objects: 1})
	for path, want := range map[string]string{
		"/api/v1/secrets": "NotFound", "/api/v1/pods?watch=true&sendInitialEvents=true": "Invalid",
	} {
		answer, err := http.Get(url + path)
		require.NoError(t, err)
		var status struct {
			Kind, Reason string
			Code         int
		}
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&status))
		answer.Body.Close()
		assert.Equal(t, "Status "+want, status.Kind+" "+status.Reason, path)
		assert.Equal(t, answer.StatusCode, status.Code, path)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSyncRun(t *testing.T) {
	meter := &bench.Meter{}
	result, err := RunSync(t.Context(), FastSync(), &SyncConfig{Objects: 500}, meter)
	require.NoError(t, err)
	require.Len(t, result.Proof, 1)
	assert.Contains(t, result.Proof[0], "500 pods in the cache")
	for _, name := range []string{"synced", "time to sync", "processor time", "live heap", "bytes received"} {
		figure, ok := result.Figure(name)
		assert.True(t, ok, name)
		assert.Positive(t, figure.Value, name)
	}
	received, _ := result.Figure("bytes received")
	assert.EqualValues(t, len(newPodServer(SyncConfig{Objects: 500}).list), received.Value)
	assert.Equal(t, "comparing", meter.Step())
}

// faultySync is a subject with a fault.
type faultySync struct {
	SyncSubject
	fault func(SyncInformer) SyncInformer
}

func (f faultySync) Start(url string) (SyncInformer, error) {
	informer, err := f.SyncSubject.Start(url)
	if err != nil {
		return nil, err
	}
	return f.fault(informer), nil
}

type loses struct{ SyncInformer }

func (l loses) Each(visit func(*api.ObjectMeta) error) error {
	first := true
	return l.SyncInformer.Each(func(head *api.ObjectMeta) error {
		if first {
			first = false
			return nil
		}
		return visit(head)
	})
}

type changes struct{ SyncInformer }

func (c changes) Each(visit func(*api.ObjectMeta) error) error {
	return c.SyncInformer.Each(func(head *api.ObjectMeta) error {
		changed := *head
		changed.Name += "x"
		return visit(&changed)
	})
}

type silent struct{ SyncInformer }

func (s silent) Added() int { return s.SyncInformer.Added() - 1 }

func TestRunDetectsMissingWork(t *testing.T) {
	for name, fault := range map[string]func(SyncInformer) SyncInformer{
		"loses a pod":          func(i SyncInformer) SyncInformer { return loses{i} },
		"changes a pod":        func(i SyncInformer) SyncInformer { return changes{i} },
		"handler gets nothing": func(i SyncInformer) SyncInformer { return silent{i} },
	} {
		_, err := RunSync(t.Context(), faultySync{FastSync(), fault}, &SyncConfig{Objects: 50}, nil)
		var proof *bench.ProofError
		assert.ErrorAs(t, err, &proof, name)
	}
}

var errNoSubject = errors.New("no")

type brokenSync struct{ SyncSubject }

func (brokenSync) Start(string) (SyncInformer, error) { return nil, errNoSubject }

func TestRunOfASubjectThatDoesNotStart(t *testing.T) {
	_, err := RunSync(t.Context(), brokenSync{FastSync()}, &SyncConfig{Objects: 5}, nil)
	assert.ErrorIs(t, err, errNoSubject)
}

// stuck never syncs.
type stuck struct {
	SyncInformer
	waiting chan struct{}
}

func (s stuck) WaitForSync(ctx context.Context) error {
	close(s.waiting)
	<-ctx.Done()
	return ctx.Err()
}

func TestSyncEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan struct{})
	go func() {
		<-waiting
		cancel()
	}()
	_, err := RunSync(ctx, faultySync{FastSync(), func(i SyncInformer) SyncInformer { return stuck{i, waiting} }}, &SyncConfig{Objects: 5},
		&bench.Meter{})
	assert.ErrorIs(t, err, context.Canceled)

	_, err = RunSync(ctx, FastSync(), &SyncConfig{Objects: 5}, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

// The tests restart this program as the server, as every program with the benchmark does.
func TestMain(m *testing.M) {
	ServeIfAsked()
	os.Exit(m.Run())
}
