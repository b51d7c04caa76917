package monitor_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
)

// other is another controller's informer of one type, which the monitors may share.
type other struct {
	resource api.GroupVersionResource
	made     *informer.SharedIndexInformer[head] // nil: there is none
}

func (o *other) addHandler(resource api.GroupVersionResource, handler informer.ResourceEventHandler[head]) (informer.InformerSynced, func(), bool) {
	if o.made == nil || resource != o.resource {
		return nil, nil, false
	}
	registration, err := o.made.AddEventHandler(handler)
	if err != nil {
		return nil, nil, false
	}
	leave := func() { _ = o.made.ShutDownEventHandler(context.Background(), registration) }
	return registration.HasSynced, leave, true
}

func (o *other) start(w *world) {
	o.make(w)
	o.run(w)
}

func (o *other) make(w *world) {
	o.made = informer.NewSharedIndexInformer(restclient.Metadata(w.client, o.resource, ""), informer.Config[head]{
		Transform: func(object head) (head, error) {
			object.Labels = nil
			return object, nil
		},
	})
}

// run runs the informer until the end of the test.
func (o *other) run(w *world) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = o.made.Run(ctx)
	}()
	w.t.Cleanup(func() { stop(); <-ended })
}

func (w *world) watches() int64 { return w.server.Snapshot().Watches }

func TestAnInformerThatIsThereIsShared(t *testing.T) {
	shared := &other{resource: configMaps}
	inWorld(t, func(w *world) {
		shared.start(w)
		w.config.Shared = shared.addHandler
	}, func(w *world) {
		require.True(t, w.monitors.Synced())
		w.hear()
		w.configMap("a")
		assert.Equal(t, []string{"observe a"}, w.hear())
		before := w.watches()
		w.monitors.ShareInformers()
		w.rest()
		assert.Equal(t, before, w.watches())
		assert.Empty(t, w.hear(), "nothing changes")
	})
}

// The informer of another controller replaces the monitor's own. No object is lost, and none that
// was deleted meanwhile is kept.
func TestAnInformerThatAppearsIsShared(t *testing.T) {
	shared := &other{resource: configMaps}
	inWorld(t, func(w *world) {
		shared.made = nil
		w.config.Shared = shared.addHandler
	}, func(w *world) {
		before := w.watches()
		kept, lost := w.configMap("kept"), w.configMap("lost")
		w.hear()
		shared.make(w)
		w.monitors.ShareInformers()
		w.rest()
		assert.Equal(t, before-1, w.watches(), "the monitor's own informer ends before the other begins")
		assert.False(t, w.monitors.Synced())
		assert.True(t, w.knows(kept) && w.knows(lost))
		assert.Empty(t, w.hear())
		w.delete(configMaps, "default", "lost")
		shared.run(w)
		told := w.hear()
		assert.Equal(t, before, w.watches())
		assert.True(t, w.monitors.Synced())
		assert.Contains(t, told, "observe kept")
		assert.Equal(t, "vanished configmaps", told[len(told)-1], "the monitor of the previous type vanishes last")
		assert.True(t, w.knows(kept), "the object that both informers have seen has not vanished")
		assert.False(t, w.knows(lost), "the object that was deleted in between has vanished")
		w.configMap("new")
		assert.Equal(t, []string{"observe new"}, w.hear())
	})
}

func TestATypeWithASharedInformerVanishes(t *testing.T) {
	shared := &other{resource: gizmos}
	inWorld(t, func(w *world) {
		shared.made = nil
		w.config.Shared = shared.addHandler
	}, func(w *world) {
		w.defineGizmos()
		w.gizmo("g")
		w.hear()
		shared.make(w)
		w.monitors.ShareInformers()
		w.delete(types, "", "gizmos.example.com") // before the other informer has run
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"vanished gizmos", "vanished gizmos"}, w.hear())
		shared.run(w)
		w.defineGizmos()
		w.gizmo("h")
		time.Sleep(2 * time.Minute) // the other informer has received a 404 meanwhile
		assert.Contains(t, w.hear(), "observe h")
	})
}
