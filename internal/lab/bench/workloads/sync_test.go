package workloads

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/restclient/api"
)

func generated(n int) (pods []api.ObjectMeta) {
	generate(n, func(_ []byte, head *api.ObjectMeta) { pods = append(pods, *head) })
	return pods
}

func TestGenerator(t *testing.T) {
	names, deployed := map[string]bool{}, map[string]int{}
	generate(1000, func(text []byte, head *api.ObjectMeta) {
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
	assert.Equal(t, generated(1000), generated(1000))
}

func TestSyncRun(t *testing.T) {
	meter := &bench.Meter{}
	result, err := RunSync(t.Context(), FastSync(), &SyncConfig{Objects: 500}, meter)
	require.NoError(t, err)
	require.Len(t, result.Proof, 1)
	assert.Contains(t, result.Proof[0], "500 pods in the cache, each as the server has it,")
	for _, name := range []string{"synced", "time to sync", "processor time", "live heap"} {
		figure, ok := result.Figure(name)
		assert.True(t, ok, name)
		assert.Positive(t, figure.Value, name)
	}
	assert.Equal(t, "comparing", meter.Step())
}

// faultySync is a subject with a fault: an error of its start, or a change of the informer.
type faultySync struct {
	SyncSubject
	err    error
	change func(i *SyncInformer)
}

func (f faultySync) Start(url string) (*SyncInformer, error) {
	if f.err != nil {
		return nil, f.err
	}
	informer, err := f.SyncSubject.Start(url)
	if err == nil {
		f.change(informer)
	}
	return informer, err
}

func TestRunDetectsMissingWork(t *testing.T) {
	changes := func(change func(head *api.ObjectMeta) (kept bool)) func(i *SyncInformer) {
		return func(i *SyncInformer) {
			each := i.Each
			i.Each = func(visit func(*api.ObjectMeta) error) error {
				return each(func(head *api.ObjectMeta) error {
					copied := *head
					if !change(&copied) {
						return nil
					}
					return visit(&copied)
				})
			}
		}
	}
	for name, change := range map[string]func(i *SyncInformer){
		"handler gets nothing": func(i *SyncInformer) { i.Added = new(atomic.Int64) },
		"loses a pod":          changes(func(h *api.ObjectMeta) bool { return !strings.HasSuffix(h.Name, "-0000000") }),
		"renames a pod":        changes(func(h *api.ObjectMeta) bool { h.Name += "x"; return true }),
		"a generation":         changes(func(h *api.ObjectMeta) bool { h.Generation++; return true }),
		"loses labels":         changes(func(h *api.ObjectMeta) bool { h.Labels = nil; return true }),
		"loses an owner":       changes(func(h *api.ObjectMeta) bool { h.OwnerReferences = nil; return true }),
	} {
		_, err := RunSync(t.Context(), faultySync{FastSync(), nil, change}, &SyncConfig{Objects: 50}, nil)
		assert.ErrorAs(t, err, new(*bench.ProofError), name)
	}
}

func TestSyncEnds(t *testing.T) {
	broken := errors.New("no")
	_, err := RunSync(t.Context(), faultySync{SyncSubject: FastSync(), err: broken}, &SyncConfig{Objects: 5}, nil)
	assert.ErrorIs(t, err, broken)

	ctx, cancel := context.WithCancel(t.Context())
	stuck := faultySync{FastSync(), nil, func(i *SyncInformer) {
		i.Synced = nil
		cancel()
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
