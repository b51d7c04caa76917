// Package steps_test runs the programs of docs/learn/write-your-own-controller.md against the
// in-memory API server.
package steps_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// reader follows the page, with an API server and a terminal.
type reader struct {
	*testing.T
	programs   string // the directory of the built steps
	server     *apiserver.Server
	client     *restclient.Client
	kubeconfig string
	stateDir   string
}

func newReader(t *testing.T, programs string) *reader {
	server, err := apiserver.New(apiserver.Config{NoKubelet: true})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { server.Stop(context.Background()) })
	r := &reader{T: t, programs: programs, server: server, stateDir: t.TempDir(),
		kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.NoError(t, server.WriteKubeconfig(r.kubeconfig))
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: r.kubeconfig})
	require.NoError(t, err)
	r.client, err = restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(r.client.Close)
	return r
}

const machines = "/apis/cloudnative.tw/v1alpha1/namespaces/default/virtualmachines"

func (r *reader) request(verb, path string, body, answer any) {
	r.Helper()
	request := restclient.Request{Verb: verb, Path: path, ContentType: "application/json"}
	if body != nil {
		text, err := json.Marshal(body)
		require.NoError(r, err)
		request.Body = text
	}
	var text []byte
	require.NoError(r, r.client.Do(r.Context(), request, &text))
	if answer != nil {
		require.NoError(r, json.Unmarshal(text, answer))
	}
}

// define runs kubectl apply -f crd.yaml.
func (r *reader) define() {
	r.Helper()
	object := map[string]any{}
	require.NoError(r, yaml.Unmarshal(virtualmachine.CustomResourceDefinition, &object))
	r.request(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", object, nil)
}

// create runs kubectl create -f testvm.yaml, with another name.
func (r *reader) create(name string) *virtualmachine.VirtualMachine {
	r.Helper()
	vm := &virtualmachine.VirtualMachine{}
	vm.APIVersion, vm.Kind, vm.Name = "cloudnative.tw/v1alpha1", virtualmachine.Kind, name
	vm.Spec.Resource = virtualmachine.ResourceList{CPU: "1", Memory: `"64Mi"`}
	r.request(http.MethodPost, machines, vm, vm)
	return vm
}

func (r *reader) delete(name string) {
	r.Helper()
	r.request(http.MethodDelete, machines+"/"+name, nil, nil)
}

// reaches waits until a machine has a phase, "gone" if there is none; only a failure reaches the
// limit.
func (r *reader) reaches(name, phase string) {
	r.Helper()
	require.Eventually(r, func() bool { return r.phase(name) == phase }, 2*time.Minute, 10*time.Millisecond)
}

func (r *reader) phase(name string) string {
	var list api.List[virtualmachine.VirtualMachine]
	r.request(http.MethodGet, machines, nil, &list)
	for _, vm := range list.Items {
		if vm.Name == name {
			return string(vm.Status.Phase)
		}
	}
	return "gone"
}

// servers returns the names of the machines that are left.
func (r *reader) servers() []string {
	left, err := driver.NewMemory(r.stateDir)
	require.NoError(r, err)
	return left.Names()
}

// program is a step that runs.
type program struct {
	*exec.Cmd
	r     *reader
	lines chan string
}

// run starts a step.
func (r *reader) run(step string, arguments ...string) *program {
	r.Helper()
	p := &program{r: r, lines: make(chan string, 10000)}
	p.Cmd = exec.Command(filepath.Join(r.programs, step), arguments...)
	p.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig)
	output, write, err := os.Pipe()
	require.NoError(r, err)
	p.Stdout, p.Stderr = write, write
	require.NoError(r, p.Start())
	write.Close()
	go func() {
		defer close(p.lines)
		defer output.Close()
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	r.Cleanup(func() { p.Process.Kill() })
	return p
}

// says waits until the program has printed a line that contains text.
func (p *program) says(text string) {
	p.r.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case line, open := <-p.lines:
			require.True(p.r, open, "the program has ended and has not said %q", text)
			if strings.Contains(line, text) {
				return
			}
		case <-limit:
			require.FailNow(p.r, "the program does not say "+text)
		}
	}
}

// fails says what is wrong and waits for the end.
func (p *program) fails(text string) {
	p.r.Helper()
	p.says(text)
	assert.Error(p.r, p.Wait())
}

// interrupt presses Ctrl-C and waits for the end.
func (p *program) interrupt() {
	p.r.Helper()
	require.NoError(p.r, p.Process.Signal(os.Interrupt))
	require.NoError(p.r, p.Wait())
}

// tests are what a reader of the page sees, each with a server that knows virtual machines.
var tests = []struct {
	name string
	test func(r *reader)
}{
	{"1 lists", func(r *reader) {
		vm := r.create("test-vm")
		p := r.run("1-list")
		p.says(`default/test-vm wants 1 CPUs and 64Mi of memory`)
		p.says("end of the list, resourceVersion " + vm.ResourceVersion)
		require.NoError(r, p.Wait())
	}},
	{"2 watches", func(r *reader) {
		p := r.run("2-watch")
		r.create("test-vm")
		p.says("added default/test-vm")
		r.delete("test-vm")
		p.says("deleted default/test-vm")
		p.interrupt()
	}},
	{"3 has a queue", func(r *reader) {
		p := r.run("3-queue")
		vm := r.create("test-vm")
		p.says("default/test-vm is at version " + vm.ResourceVersion)
		r.delete("test-vm")
		p.says("default/test-vm is gone")
		p.interrupt()
	}},
	{"4 leaves a zombie", func(r *reader) {
		p := r.run("4-create", "-state-dir="+r.stateDir)
		vm := r.create("test-vm")
		p.says("created test-vm-" + vm.UID)
		r.reaches("test-vm", "Active")
		r.delete("test-vm")
		assert.Equal(r, "gone", r.phase("test-vm"))
		p.interrupt()
		assert.Equal(r, []string{"test-vm-" + vm.UID}, r.servers(), "the machine stays")
	}},
	{"5 has a finalizer", func(r *reader) {
		p := r.run("5-finalizer", "-state-dir="+r.stateDir)
		vm := r.create("test-vm")
		p.says("created test-vm-" + vm.UID)
		r.reaches("test-vm", "Active")
		p.interrupt()
		r.delete("test-vm")
		assert.Equal(r, "Active", r.phase("test-vm"), "the object waits for the controller")
		p = r.run("5-finalizer", "-state-dir="+r.stateDir)
		p.says("deleted test-vm-" + vm.UID)
		r.reaches("test-vm", "gone")
		assert.Empty(r, r.servers())
		p.interrupt()
	}},
	{"5 dies after the finalizer", func(r *reader) { dies(r, 0) }},
	{"5 dies after the machine", func(r *reader) { dies(r, 1, "-finalizer-last") }},
	{"6 is the controller", func(r *reader) {
		p := r.run("6-controller", "-state-dir="+r.stateDir, "-leader-elect=kube-system/machines")
		p.says("leader election, kube-system/machines: this replica leads")
		vm := r.create("test-vm")
		p.says("default/test-vm is Pending")
		p.says("default/test-vm Normal ServerCreated: the server test-vm-" + vm.UID + " was created")
		p.says("default/test-vm is Active")
		r.delete("test-vm")
		p.says("default/test-vm is Terminating")
		r.reaches("test-vm", "gone")
		assert.Empty(r, r.servers())
		p.interrupt()
		var recorded api.List[api.Event]
		r.request(http.MethodGet, "/api/v1/namespaces/default/events", nil, &recorded)
		var reasons []string
		for _, e := range recorded.Items {
			reasons = append(reasons, e.InvolvedObject.Name+" "+e.Reason)
		}
		assert.Subset(r, reasons, []string{"test-vm ServerCreated", "test-vm ServerDeleted"},
			"what waited is sent at the end")
	}},
	{"6 has flags", func(r *reader) {
		r.run("6-controller", "-state-dir=/dev/null").fails("mkdir /dev/null: not a directory")
		r.run("6-controller", "-die-after=StartServer").
			fails(`-die-after is CreateServer or DeleteServer, not "StartServer"`)
	}},
}

// dies plays a controller that dies between finalizer and machine, and an object that is deleted
// before the next one runs.
func dies(r *reader, zombies int, flags ...string) {
	arguments := append([]string{"-state-dir=" + r.stateDir}, flags...)
	p := r.run("5-finalizer", append(arguments, "-die")...)
	r.create("test-vm")
	p.fails("dying")
	r.delete("test-vm")
	p = r.run("5-finalizer", arguments...)
	r.reaches("test-vm", "gone")
	other := r.create("other") // once this one is active, the first one has been processed
	p.says("created other-" + other.UID)
	r.reaches("other", "Active") // the second order leaks what is deleted before
	r.delete("other")
	p.says("deleted other-" + other.UID)
	r.reaches("other", "gone")
	p.interrupt()
	assert.Len(r, r.servers(), zombies)
}

func TestSteps(t *testing.T) {
	// The texts are read so that go test does not take a result from its cache after a change.
	for _, pattern := range []string{"*/*.go", "../*.go", "../driver/*.go", "../../../controller/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			_, err := os.ReadFile(file)
			require.NoError(t, err)
		}
	}
	programs := t.TempDir()
	output, err := exec.Command("go", "build", "-o", programs, "./...").CombinedOutput()
	require.NoError(t, err, "%s", output)
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, programs)
			r.define()
			c.test(r)
		})
	}
	// Each step reports what is missing and how to provide it, and continues by itself if it waits.
	// The last one does so with package controller.
	for _, step := range []string{"1-list", "2-watch", "3-queue", "4-create", "5-finalizer", "6-controller"} {
		noType := "the server does not know virtual machines: kubectl apply -f examples/virtualmachine/crd.yaml"
		noConfig := "no server is configured: start bin/lab serve"
		noServer := "the server cannot be reached: start bin/lab serve"
		if step == "6-controller" {
			noType = "watching virtualmachines.cloudnative.tw: " +
				"the server has no such type, apply its CustomResourceDefinition"
			noConfig = "no configuration was found in"
			noServer = "connection refused"
		}
		t.Run(step+" without", func(t *testing.T) {
			t.Parallel()
			r := newReader(t, programs)
			if step == "1-list" {
				r.run(step).fails(noType)
			} else {
				p := r.run(step)
				p.says(noType)
				r.define()
				p.interrupt()
			}
			there := r.kubeconfig
			r.kubeconfig = filepath.Join(t.TempDir(), "none")
			r.run(step).fails(noConfig)

			r.kubeconfig = there
			require.NoError(t, r.server.Stop(context.Background()))
			p := r.run(step)
			p.says(noServer)
			if step == "1-list" {
				assert.Error(t, p.Wait())
			} else {
				p.interrupt()
			}
		})
	}
}
