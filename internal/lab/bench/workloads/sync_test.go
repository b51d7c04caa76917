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
		assert.Contains(t, string(text),
			`"f:podIPs":{".":{},"k:{\"ip\":\"`+pod.Annotations["cni.projectcalico.org/podIP"][:7])
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

func TestServerRefuses(t *testing.T) {
	server := httptest.NewServer(newPodServer(SyncConfig{Objects: 1}))
	defer server.Close()
	for path, want := range map[string]string{
		"/api/v1/secrets": "NotFound", "/api/v1/pods?watch=true&sendInitialEvents=true": "Invalid",
	} {
		answer, err := http.Get(server.URL + path)
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
	assert.Contains(t, result.Proof[0], "500 pods in the cache and delivered to the handler")
	assert.Contains(t, result.Proof[0], digestOfPods(generated(SyncConfig{Objects: 500})).String())
	for _, name := range []string{"synced", "time to sync", "processor time", "live heap", "bytes received"} {
		figure, ok := result.Figure(name)
		assert.True(t, ok, name)
		assert.Positive(t, figure.Value, name)
	}
	received, _ := result.Figure("bytes received")
	assert.EqualValues(t, len(newPodServer(SyncConfig{Objects: 500}).list), received.Value)
	assert.Equal(t, "comparing", meter.Step())
}

// faultySync is a subject with a fault: what it changes of a cached object or of the count, and
// what waits instead of the informer.
type faultySync struct {
	SyncSubject
	err    error // of Start
	each   func(head *api.ObjectMeta) (again bool)
	missed int
	wait   func(ctx context.Context) error
}

type faultySyncInformer struct {
	SyncInformer
	faultySync
}

func (f faultySync) Start(url string) (SyncInformer, error) {
	if f.err != nil {
		return nil, f.err
	}
	informer, err := f.SyncSubject.Start(url)
	return faultySyncInformer{informer, f}, err
}

func (f faultySyncInformer) Each(visit func(*api.ObjectMeta) error) error {
	return f.SyncInformer.Each(func(head *api.ObjectMeta) error {
		copied := *head
		if f.each != nil && !f.each(&copied) {
			return nil
		}
		return visit(&copied)
	})
}

func (f faultySyncInformer) Added() int { return f.SyncInformer.Added() - f.missed }

func (f faultySyncInformer) WaitForSync(ctx context.Context) error {
	if f.wait != nil {
		return f.wait(ctx)
	}
	return f.SyncInformer.WaitForSync(ctx)
}

func TestRunDetectsMissingWork(t *testing.T) {
	for name, subject := range map[string]faultySync{
		"loses a pod": {each: func(head *api.ObjectMeta) bool { return !strings.HasSuffix(head.Name, "-0000000") }},
		"changes a pod": {each: func(head *api.ObjectMeta) bool {
			head.Name += "x"
			return true
		}},
		"handler gets nothing": {missed: 1},
	} {
		subject.SyncSubject = FastSync()
		_, err := RunSync(t.Context(), subject, &SyncConfig{Objects: 50}, nil)
		assert.ErrorAs(t, err, new(*bench.ProofError), name)
	}
}

func TestSyncEnds(t *testing.T) {
	broken := errors.New("no")
	_, err := RunSync(t.Context(), faultySync{SyncSubject: FastSync(), err: broken}, &SyncConfig{Objects: 5}, nil)
	assert.ErrorIs(t, err, broken)

	ctx, cancel := context.WithCancel(t.Context())
	stuck := faultySync{SyncSubject: FastSync(), wait: func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}}
	_, err = RunSync(ctx, stuck, &SyncConfig{Objects: 5}, &bench.Meter{})
	assert.ErrorIs(t, err, context.Canceled)
	_, err = RunSync(ctx, FastSync(), &SyncConfig{Objects: 5}, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

// The tests restart this program as the server, as every program with the benchmark does.
func TestMain(m *testing.M) {
	ServeIfAsked()
	os.Exit(m.Run())
}
