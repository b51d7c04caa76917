package e2e

import (
	"context"
	"strconv"
	"sync"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// departures records when objects left a namespace, as the resource version of the deletion.
// Versions of different types are comparable because they count the revisions of one etcd.
type departures struct {
	mu       sync.Mutex // guards versions
	versions map[string]uint64
}

// watchDepartures records until the test ends.
func (tr *trial) watchDepartures(namespace string, resources ...schema.GroupVersionResource) *departures {
	tr.t.Helper()
	d := &departures{versions: map[string]uint64{}}
	ctx, cancel := context.WithCancel(tr.ctx)
	var following sync.WaitGroup
	tr.t.Cleanup(func() {
		cancel()
		following.Wait()
	})
	for _, resource := range resources {
		client := tr.dynamic.Resource(resource).Namespace(namespace)
		list, err := client.List(ctx, metav1.ListOptions{})
		require.NoError(tr.t, err)
		events, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		require.NoError(tr.t, err)
		following.Go(func() {
			defer events.Stop()
			for event := range events.ResultChan() {
				d.record(resource, event)
			}
		})
	}
	return d
}

func (d *departures) record(resource schema.GroupVersionResource, event watch.Event) {
	object, ok := event.Object.(*unstructured.Unstructured)
	if event.Type != watch.Deleted || !ok {
		return
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return // the object never leaves, and the waiting test fails
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions[resource.Resource+"/"+object.GetName()] = version
}

// of returns the version at which an object ("pods/first") left; 0 while it exists.
func (d *departures) of(object string) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.versions[object]
}

// noteOrder waits until both objects have left and records which was first.
func (tr *trial) noteOrder(d *departures, first, second string) {
	tr.t.Helper()
	tr.eventually(first+" and "+second+" have left", func() (bool, error) {
		return d.of(first) != 0 && d.of(second) != 0, nil
	})
	answer := "yes"
	if d.of(first) > d.of(second) {
		answer = "no"
	}
	tr.state.note(first+" left before "+second, answer)
}
