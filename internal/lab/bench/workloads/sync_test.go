package workloads

import (
	"context"
	"encoding/json"
	"errors"
	"os"
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

func TestGenerator(t *testing.T) {
	names, deployed := map[string]bool{}, map[string]int{}
	generate(SyncConfig{Objects: 1000}, func(text []byte, head *api.ObjectMeta) {
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
	assert.Equal(t, generated(SyncConfig{Objects: 1000}), generated(SyncConfig{Objects: 1000}))
}

func TestSyncRun(t *testing.T) {
	meter := &bench.Meter{}
	result, err := RunSync(t.Context(), FastSync(), &SyncConfig{Objects: 500}, meter)
	require.NoError(t, err)
	require.Len(t, result.Proof, 1)
	assert.Contains(t, result.Proof[0], "500 pods in the cache, each as the server has it,")
	for _, name := range []string{"synced", "time to sync", "processor time", "live heap", "bytes received"} {
		figure, ok := result.Figure(name)
		assert.True(t, ok, name)
		assert.Positive(t, figure.Value, name)
	}
	received, _ := result.Figure("bytes received")
	assert.EqualValues(t, len(newPodServer(SyncConfig{Objects: 500})), received.Value)
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
	changes := func(change func(head *api.ObjectMeta)) faultySync {
		return faultySync{each: func(head *api.ObjectMeta) bool {
			change(head)
			return true
		}}
	}
	for name, subject := range map[string]faultySync{
		"loses a pod": {each: func(head *api.ObjectMeta) bool {
			return !strings.HasSuffix(head.Name, "-0000000")
		}},
		"handler gets nothing": {missed: 1},
		"renames a pod":        changes(func(head *api.ObjectMeta) { head.Name += "x" }),
		"a generation":         changes(func(head *api.ObjectMeta) { head.Generation++ }),
		"loses labels":         changes(func(head *api.ObjectMeta) { head.Labels = nil }),
		"loses an owner":       changes(func(head *api.ObjectMeta) { head.OwnerReferences = nil }),
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
