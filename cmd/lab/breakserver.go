package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"time"

	"orrery/cmd/lab/serve"
	"orrery/cmd/orrery/controllers"
	"orrery/controller/manager"
	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/credentials"
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
	w.StartController = func() {
		running.StartWithContext(ctx,
			func(ctx context.Context) { runController(ctx, client) })
	}
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
	fmt.Fprintf(out, "  export KUBECONFIG=%s\n  lab break --check --server %s\nCtrl-C ends the server.\n",
		quoted, quoted)
	<-ctx.Done()
	return program.Stopped(ctx)
}

// runController runs the namespace controller until the end of the context.
func runController(ctx context.Context, client *restclient.Client) {
	chosen, err := manager.Choose(controllers.Descriptors(controllers.Options{}),
		[]string{controllers.NamespaceController})
	if err != nil {
		panic("lab break: " + err.Error()) // the name is constant
	}
	logger := logs.New(logs.Config{Writer: io.Discard})
	if err := manager.NewManager(manager.Shared{Client: client, Logger: logger}, chosen).Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab break: the namespace controller has ended:", err)
	}
}
