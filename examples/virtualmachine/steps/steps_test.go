// Package steps_test runs the programs of docs/learn/write-your-own-controller.md against the
// in-memory API server.
package steps_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	t           *testing.T
	stop        func() // the server
	kubeconfig  string
	machines    *restclient.Resource[*virtualmachine.VirtualMachine]
	definitions *restclient.Resource[*api.Unstructured]
	recorded    *restclient.Resource[*api.Event]
	stateDir    string
}

func newReader(t *testing.T) *reader {
	server, err := apiserver.New(apiserver.Config{NoKubelet: true})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { server.Stop(context.Background()) })
	r := &reader{t: t, stop: func() { require.NoError(t, server.Stop(context.Background())) },
		kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), stateDir: t.TempDir()}
	require.NoError(t, server.WriteKubeconfig(r.kubeconfig))
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: r.kubeconfig})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	r.machines = restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "default")
	r.definitions = restclient.Dynamic(client, definitions, "")
	r.recorded = restclient.Typed[*api.Event](client, api.EventsResource, "default")
	return r
}

var definitions = api.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// define runs kubectl apply -f crd.yaml.
func (r *reader) define() *reader {
	r.t.Helper()
	object := map[string]any{}
	require.NoError(r.t, yaml.Unmarshal(virtualmachine.CustomResourceDefinition, &object))
	_, err := r.definitions.Create(r.t.Context(), &api.Unstructured{Object: object}, api.UpdateOptions{})
	require.NoError(r.t, err)
	return r
}

// create runs kubectl create -f testvm.yaml, with another name.
func (r *reader) create(name string) *virtualmachine.VirtualMachine {
	r.t.Helper()
	vm := &virtualmachine.VirtualMachine{}
	vm.APIVersion, vm.Kind, vm.Name = "cloudnative.tw/v1alpha1", virtualmachine.Kind, name
	vm.Spec.Resource = virtualmachine.ResourceList{CPU: "1", Memory: `"64Mi"`}
	vm, err := r.machines.Create(r.t.Context(), vm, api.UpdateOptions{})
	require.NoError(r.t, err)
	return vm
}

func (r *reader) delete(name string) {
	r.t.Helper()
	require.NoError(r.t, r.machines.Delete(r.t.Context(), name, api.DeleteOptions{}))
}

// phase returns the phase of a machine, "gone" if there is none.
func (r *reader) phase(name string) string {
	vm, err := r.machines.Get(r.t.Context(), name, api.GetOptions{})
	if err != nil {
		require.True(r.t, api.IsNotFound(err), "%v", err)
		return "gone"
	}
	return string(vm.Status.Phase)
}

// servers returns the names of the machines that are left.
func (r *reader) servers() []string {
	left, err := driver.NewMemory(r.stateDir)
	require.NoError(r.t, err)
	return left.Names()
}

// eventually waits for an effect of a program; only a failure reaches the limit.
func (r *reader) eventually(holds func() bool) {
	r.t.Helper()
	require.Eventually(r.t, holds, 2*time.Minute, 10*time.Millisecond)
}

// built are the programs, built once. Their texts are read so that go test does not take a result
// from its cache after they have changed.
var built = sync.OnceValues(func() (string, error) {
	for _, pattern := range []string{"*/*.go", "../*.go", "../driver/*.go", "../../../controller/*.go"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				return "", err
			}
		}
	}
	dir, err := os.MkdirTemp("", "steps")
	if err != nil {
		return "", err
	}
	command := exec.Command("go", "build", "-o", dir, "./...")
	command.Stderr = os.Stderr
	return dir, command.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := built(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// program is a step that runs.
type program struct {
	r       *reader
	command *exec.Cmd
	lines   chan string
}

// run starts a step.
func (r *reader) run(step string, arguments ...string) *program {
	r.t.Helper()
	dir, err := built()
	require.NoError(r.t, err)
	p := &program{r: r, lines: make(chan string, 10000)}
	p.command = exec.Command(filepath.Join(dir, step), arguments...)
	p.command.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig)
	output, write, err := os.Pipe()
	require.NoError(r.t, err)
	p.command.Stdout, p.command.Stderr = write, write
	require.NoError(r.t, p.command.Start())
	write.Close()
	go func() {
		defer close(p.lines)
		defer output.Close()
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	r.t.Cleanup(func() { p.command.Process.Kill() })
	return p
}

// says waits until the program has printed a line that contains text.
func (p *program) says(text string) {
	p.r.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case line, open := <-p.lines:
			require.True(p.r.t, open, "the program has ended and has not said %q", text)
			if strings.Contains(line, text) {
				return
			}
		case <-limit:
			require.FailNow(p.r.t, "the program does not say "+text)
		}
	}
}

// interrupt presses Ctrl-C and waits for the end.
func (p *program) interrupt() {
	p.r.t.Helper()
	require.NoError(p.r.t, p.command.Process.Signal(os.Interrupt))
	require.NoError(p.r.t, p.command.Wait())
}

var all = []string{"1-list", "2-watch", "3-queue", "4-create", "5-finalizer", "6-controller"}

// Each step reports what is missing and how to provide it, and continues by itself if it waits. The
// last one does so with package controller.
func TestWhatIsMissingIsSaid(t *testing.T) {
	for _, step := range all {
		noType := "the server does not know virtual machines: kubectl apply -f examples/virtualmachine/crd.yaml"
		noConfig := "no server is configured: start bin/lab serve"
		noServer := "the server cannot be reached: start bin/lab serve"
		if step == "6-controller" {
			noType = "watching virtualmachines.cloudnative.tw: " +
				"the server has no such type, apply its CustomResourceDefinition"
			noConfig = "no configuration was found in"
			noServer = "connection refused"
		}
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			r := newReader(t)
			p := r.run(step)
			p.says(noType)
			if step == "1-list" {
				assert.Error(t, p.command.Wait())
			} else {
				r.define()
				p.interrupt()
			}

			there := r.kubeconfig
			r.kubeconfig = filepath.Join(t.TempDir(), "none")
			p = r.run(step)
			p.says(noConfig)
			assert.Error(t, p.command.Wait())

			r.kubeconfig = there
			r.stop()
			p = r.run(step)
			p.says(noServer)
			if step == "1-list" {
				assert.Error(t, p.command.Wait())
			} else {
				p.interrupt()
			}
		})
	}
}

func TestStep1Lists(t *testing.T) {
	r := newReader(t).define()
	vm := r.create("test-vm")
	p := r.run("1-list")
	p.says(`default/test-vm wants 1 CPUs and 64Mi of memory`)
	p.says("end of the list, resourceVersion " + vm.ResourceVersion)
	require.NoError(t, p.command.Wait())
}

func TestStep2Watches(t *testing.T) {
	r := newReader(t).define()
	p := r.run("2-watch")
	r.create("test-vm")
	p.says("added default/test-vm")
	r.delete("test-vm")
	p.says("deleted default/test-vm")
	p.interrupt()
}

func TestStep3HasAQueue(t *testing.T) {
	r := newReader(t).define()
	p := r.run("3-queue")
	vm := r.create("test-vm")
	p.says("default/test-vm is at version " + vm.ResourceVersion)
	r.delete("test-vm")
	p.says("default/test-vm is gone")
	p.interrupt()
}

func TestStep4LeavesAZombie(t *testing.T) {
	r := newReader(t).define()
	p := r.run("4-create", "-state-dir="+r.stateDir)
	vm := r.create("test-vm")
	p.says("created test-vm-" + vm.UID)
	r.eventually(func() bool { return r.phase("test-vm") == "Active" })
	r.delete("test-vm")
	assert.Equal(t, "gone", r.phase("test-vm"))
	p.interrupt()
	assert.Equal(t, []string{"test-vm-" + vm.UID}, r.servers(), "the machine stays")
}

func TestStep5HasAFinalizer(t *testing.T) {
	r := newReader(t).define()
	p := r.run("5-finalizer", "-state-dir="+r.stateDir)
	vm := r.create("test-vm")
	p.says("created test-vm-" + vm.UID)
	r.eventually(func() bool { return r.phase("test-vm") == "Active" })
	p.interrupt()
	r.delete("test-vm")
	assert.Equal(t, "Active", r.phase("test-vm"), "the object waits for the controller")
	p = r.run("5-finalizer", "-state-dir="+r.stateDir)
	p.says("deleted test-vm-" + vm.UID)
	r.eventually(func() bool { return r.phase("test-vm") == "gone" })
	assert.Empty(t, r.servers())
	p.interrupt()
}

// Both orders, with a controller that dies in between and an object that is deleted before the
// next one runs.
func TestStep5DiesBetweenFinalizerAndMachine(t *testing.T) {
	for name, c := range map[string]struct {
		flags   []string
		zombies int
	}{
		"the finalizer first": {nil, 0},
		"the finalizer last":  {[]string{"-finalizer-last"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(t).define()
			arguments := append([]string{"-state-dir=" + r.stateDir}, c.flags...)
			p := r.run("5-finalizer", append(arguments, "-die")...)
			r.create("test-vm")
			p.says("dying")
			require.Error(t, p.command.Wait())
			r.delete("test-vm")
			p = r.run("5-finalizer", arguments...)
			r.eventually(func() bool { return r.phase("test-vm") == "gone" })
			other := r.create("other") // once this one is active, the first one has been processed
			p.says("created other-" + other.UID)
			// the second order leaks what is deleted before
			r.eventually(func() bool { return r.phase("other") == "Active" })
			r.delete("other")
			p.says("deleted other-" + other.UID)
			r.eventually(func() bool { return r.phase("other") == "gone" })
			p.interrupt()
			assert.Len(t, r.servers(), c.zombies)
		})
	}
}

func TestStep6IsTheController(t *testing.T) {
	r := newReader(t).define()
	p := r.run("6-controller", "-state-dir="+r.stateDir, "-leader-elect=kube-system/machines")
	p.says("leader election, kube-system/machines: this replica leads")
	vm := r.create("test-vm")
	p.says("default/test-vm is Pending")
	p.says("default/test-vm Normal ServerCreated: the server test-vm-" + vm.UID + " was created")
	p.says("default/test-vm is Active")
	r.delete("test-vm")
	p.says("default/test-vm is Terminating")
	r.eventually(func() bool { return r.phase("test-vm") == "gone" })
	assert.Empty(t, r.servers())
	p.interrupt()
	assert.Subset(t, r.events(), []string{"test-vm ServerCreated", "test-vm ServerDeleted"},
		"what waited is sent at the end")
}

// events returns the Events in the namespace default: the name of the object, and the reason.
func (r *reader) events() (all []string) {
	r.t.Helper()
	list, err := r.recorded.List(r.t.Context(), api.ListOptions{})
	require.NoError(r.t, err)
	for _, e := range list.Items {
		all = append(all, e.InvolvedObject.Name+" "+e.Reason)
	}
	return all
}

// The flags reach the driver, and one that would do nothing is refused.
func TestStep6HasFlags(t *testing.T) {
	r := newReader(t).define()
	for want, argument := range map[string]string{
		"mkdir /dev/null: not a directory":                              "-state-dir=/dev/null",
		"-workers is at least 1, not 0":                                 "-workers=0",
		`-die-after is CreateServer or DeleteServer, not "StartServer"`: "-die-after=StartServer",
	} {
		p := r.run("6-controller", argument)
		p.says(want)
		assert.Error(t, p.command.Wait())
	}
}
