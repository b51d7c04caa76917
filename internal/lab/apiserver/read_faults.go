package apiserver

import (
	"context"
	"crypto/rand"
	"strings"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// readFault returns the error of a fault for a request that reads objects from the storage, which
// is every request but a create.
func (x *exchange) readFault(t registry.Target) error {
	if x.info.Verb == "create" {
		return nil
	}
	asked := x.fault()
	if t.Definition.Custom {
		if failed := x.server.faults.Unconverted(asked, t.Definition.Kind); failed != nil {
			return failed
		}
	}
	if !x.server.faults.HasUnreadable() {
		return nil
	}
	view, err := x.server.store.Collection(t.Definition.Prefix).View(0)
	if err != nil {
		return nil // the resource is gone, which the request will find
	}
	var failed *api.StatusError
	view.Ascend(t.Namespace, store.Key{}, func(o *store.Object) bool {
		if t.Name != "" && t.Name != o.Key.Name {
			return true
		}
		one := asked
		one.Namespace, one.Name = o.Key.Namespace, o.Key.Name
		failed = x.server.faults.Unreadable(one, t.Definition.Prefix+"/"+o.Key.String())
		return failed == nil
	})
	if failed == nil {
		return nil
	}
	return failed
}

// intrude creates an object for the fault keeps-creating, whether or not its namespace is
// terminating.
func (s *Server) intrude(order faults.Creation) {
	d, _ := s.catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	t := registry.Target{Definition: d, Version: "v1", Namespace: order.Namespace}
	if !s.registry.Exists("namespaces", "", order.Namespace) {
		return
	}
	name := order.Manager + "-" + strings.ToLower(rand.Text()[:8])
	o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
	// A refusal by another fault is as good as none.
	_, _ = s.registry.Create(context.Background(), t, o, registry.WriteOptions{FieldManager: order.Manager, Intrusive: true})
}
