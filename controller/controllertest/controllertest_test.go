package controllertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/controllertest"
	"orrery/restclient"
	"orrery/restclient/api"
)

// A controller greets each namespace with a config map, as an author would test it.
func TestAControllerIsTestedAgainstAServer(t *testing.T) {
	client := controllertest.Start(t)
	greeted := make(chan string, 100)
	m := controller.NewManager(controller.Config{Client: client})
	namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "")
	greetings := restclient.Typed[*api.ConfigMap](client, api.ConfigMapsResource, "")
	controller.New(m, "greeter", namespaces, func(ctx context.Context, ns *api.Namespace) (time.Duration, error) {
		greeting := &api.ConfigMap{Data: map[string]string{"text": "hello"}}
		greeting.Name, greeting.Namespace = "greeting", ns.Name
		_, err := greetings.InNamespace(ns.Name).Create(ctx, greeting, api.UpdateOptions{})
		if api.IsAlreadyExists(err) {
			return 0, nil
		}
		greeted <- ns.Name
		return 0, err
	}, controller.Options{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()

	require.NotEmpty(t, <-greeted, "a namespace that the server has from the start")
	read, err := greetings.InNamespace("default").Get(t.Context(), "greeting", api.GetOptions{})
	for api.IsNotFound(err) { // the passes are in no order
		<-greeted
		read, err = greetings.InNamespace("default").Get(t.Context(), "greeting", api.GetOptions{})
	}
	require.NoError(t, err)
	assert.Equal(t, "hello", read.Data["text"])
}
