// Package controllertest runs an API server for the tests of a controller, without a cluster: the
// one in memory of the program lab, as a process of its own. A test of another module needs nothing
// else:
//
//	func TestGreeter(t *testing.T) {
//		client := controllertest.Start(t)
//		m := controller.NewManager(controller.Config{Client: client})
//		...
//	}
//
// The server keeps objects, serves lists and watches, marks namespaces as terminating, starts and
// ends pods, and collects what has no owner any more. Admission and authorization by role are not
// there. A test binary that is killed, or that times out, leaves its server running.
package controllertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// LabVariable is the environment variable that names the program lab. If it is not set, Start
// builds it, which takes seconds and needs the go command.
const LabVariable = "ORRERY_LAB"

// startTimeout is how long the server may take until it answers.
const startTimeout = time.Minute

// Start starts a server that runs until the test ends, and returns a client of its administrator.
// flags are further flags of "lab serve", such as --fault. The test fails if the server does not
// start.
func Start(t testing.TB, flags ...string) *restclient.Client {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "kubeconfig")
	ctx, stop := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, lab(t, dir), append([]string{"serve", "--kubeconfig-out", path}, flags...)...)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second // then it is killed
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errors strings.Builder
	server.Stderr = &errors
	if err := server.Start(); err != nil {
		t.Fatalf("the API server does not start: %v", err)
	}
	t.Cleanup(func() { _ = server.Wait() })
	t.Cleanup(stop)

	// It greets when it answers. What it prints later is read, so that it never waits for a reader.
	greeted := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(output)
		greeted <- lines.Scan()
		for lines.Scan() {
		}
	}()
	select {
	case ok := <-greeted:
		if !ok {
			_ = server.Wait()
			t.Fatalf("the API server has ended: %s", errors.String())
		}
	case <-time.After(startTimeout):
		t.Fatalf("the API server has not answered for %v", startTimeout)
	}

	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	client, err := restclient.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// lab returns the path of the program, which it builds into dir unless LabVariable names one.
func lab(t testing.TB, dir string) string {
	t.Helper()
	if path := os.Getenv(LabVariable); path != "" {
		return path
	}
	type here struct{}
	module := strings.TrimSuffix(reflect.TypeFor[here]().PkgPath(), "/controller/controllertest")
	path := filepath.Join(dir, "lab")
	// It is built in its own module: that of the test need not have what the laboratory depends on.
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	list.Stderr = os.Stderr
	source, err := list.Output()
	if err != nil {
		t.Fatalf("looking for module %s (%s names a lab that is built): %v", module, LabVariable, err)
	}
	build := exec.Command("go", "build", "-o", path, "./cmd/lab")
	build.Dir = strings.TrimSpace(string(source))
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building lab (%s names one that is built): %v\n%s", LabVariable, err, output)
	}
	return path
}
