// Program greeter is a first controller: it keeps a ConfigMap with a greeting in each namespace
// that has the label greet.
package main

import (
	"context"
	"time"

	"orrery/controller"
	"orrery/restclient/api"
)

func main() { controller.Main(greeter) }

func greeter(m *controller.Manager) error {
	namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "greet")
	greetings := controller.Watch[*api.ConfigMap](m, api.ConfigMapsResource, "app=greeter")
	m.Allow(api.ConfigMapsResource, "", "Write the greetings.", "create", "update")

	reconcile := func(ctx context.Context, ns *api.Namespace) (after time.Duration, err error) {
		want := &api.ConfigMap{Data: map[string]string{"text": "hello, " + ns.Labels["greet"]}}
		want.Name, want.Namespace, want.Labels = "greeting", ns.Name, map[string]string{"app": "greeter"}
		have, found := greetings.Cached(ns.Name, want.Name)
		switch {
		case ns.DeletionTimestamp != nil: // nothing can be created in it
		case !found:
			_, err = greetings.Server(ns.Name).Create(ctx, want, api.UpdateOptions{})
		case have.Data["text"] != want.Data["text"]:
			want.ResourceVersion = have.ResourceVersion // the server refuses it if another writer was faster
			_, err = greetings.Server(ns.Name).Update(ctx, want, api.UpdateOptions{})
		}
		return 0, err // after an error the pass is repeated, later each time
	}

	c := controller.New(m, "greeter", namespaces, reconcile, controller.Options{})
	controller.Owns(c, greetings, func(greeting *api.ConfigMap) string { return greeting.Namespace })
	return nil
}
