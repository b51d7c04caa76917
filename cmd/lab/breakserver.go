package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"orrery/cmd/lab/serve"
	"orrery/controller/gears"
	"orrery/informer"
	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/credentials"
	"orrery/restclient/discovery"
	"orrery/restclient/kubeconfig"
	"orrery/wait"
)

// registration is how long the kubelet needs for its node.
const registration = time.Second

// stopLimit is how long requests in flight may take at the end.
const stopLimit = 2 * time.Second

// inMemory sets a fixture up on a new server, and keeps that running until a signal.
func inMemory(ctx context.Context, f causes.Fixture, out io.Writer) error {
	token := "controller-" + rand.Text()
	server, err := apiserver.New(apiserver.Config{
		Listen: "127.0.0.1:0", TLS: true,
		Tokens: map[string]apiserver.User{token: {Name: causes.ControllerUser,
			Groups: []string{apiserver.GroupMasters}}},
	})
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		_ = server.Stop(ending)
	}()
	if err := server.Start(ctx); err != nil {
		return err
	}
	path, remove, err := serve.PlaceKubeconfig(server, "", false)
	if err != nil {
		return err
	}
	defer remove()
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		return err
	}
	admin, err := restclient.New(config)
	if err != nil {
		return err
	}
	defer admin.Close()
	if config.Credentials, err = credentials.NewToken(token); err != nil {
		return err
	}
	client, err := restclient.New(config)
	if err != nil {
		return err
	}
	defer client.Close()

	var running wait.Group
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	w := causes.NewWorld(ctx, admin)
	defer func() {
		stop()
		w.Wait()
	}()
	w.StartController = func() { running.StartWithContext(ctx, func(ctx context.Context) { runController(ctx, client) }) }
	if !f.NoController {
		w.StartController()
	}
	if err := wait.Sleep(ctx, registration); err != nil {
		return program.Stopped(ctx)
	}
	fmt.Fprintln(out, "Setting up; this may take two minutes.")
	var symptom []string
	if err = w.Break(f); err == nil {
		symptom, err = w.Symptom()
	}
	if ctx.Err() != nil {
		return program.Stopped(ctx)
	}
	if err != nil {
		return err
	}
	for _, line := range symptom {
		fmt.Fprintln(out, line)
	}
	quoted := serve.ShellQuoted(path)
	fmt.Fprintf(out, "Why does it hang? What lies outside the API is in the namespace %s.\n", causes.MachineRoom)
	fmt.Fprintf(out, "  export KUBECONFIG=%s\n  lab break --check --server %s\nCtrl-C ends the server.\n", quoted, quoted)
	<-ctx.Done()
	return program.Stopped(ctx)
}

// runController runs the namespace controller until the end of the context.
func runController(ctx context.Context, client *restclient.Client) {
	typed := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	namespaces := informer.NewSharedIndexInformer(typed,
		informer.Config[*api.Namespace]{Name: "namespaces", Gears: gears.Informer[*api.Namespace](gears.Set{})})
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: namespaces,
		Deleter: nsctlfast.NewDeleter(nsctl.DeleterConfig{
			Namespaces: typed, Content: nsctl.NewContentClient(client),
			Discovery: discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true})),
		}),
	})
	if err != nil {
		panic("lab break: " + err.Error()) // the configuration is constant
	}
	var running wait.Group
	running.StartWithContext(ctx, func(ctx context.Context) { _ = namespaces.Run(ctx) })
	running.StartWithContext(ctx, controller.Run)
	running.Wait()
}
