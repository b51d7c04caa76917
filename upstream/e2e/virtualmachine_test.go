package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
	"orrery/upstream/controlplane"
)

// machineRoom is a server with virtual machines, and the controller of examples/virtualmachine as a
// process that the test kills. Its machines are in a file, which outlives it.
type machineRoom struct {
	t          *testing.T
	server     *controlplane.ControlPlane
	program    string
	kubeconfig string // of the program, which has the rights that it prints, and no others
	stateDir   string
	machines   *restclient.Resource[*virtualmachine.VirtualMachine]
	running    *exec.Cmd
}

func newMachineRoom(t *testing.T) *machineRoom {
	server := startControlPlane(t, controlplane.Config{})
	m := &machineRoom{t: t, server: server, program: filepath.Join(t.TempDir(), "controller"), stateDir: t.TempDir()}
	m.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", m.program,
		"./examples/virtualmachine/steps/6-controller")
	build.Dir = filepath.Dir(repositoryFile(t, ".dockerignore"))
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	apply := exec.CommandContext(t.Context(), "sh", "-ec", `
		"$KUBECTL" apply -f "$DEFINITION"
		"$PROGRAM" rbac | "$KUBECTL" apply -f -
		cp "$KUBECONFIG" "$CONFINED"
		"$KUBECTL" --kubeconfig "$CONFINED" config set-credentials program \
			--token "$("$KUBECTL" create token controller)"
		"$KUBECTL" --kubeconfig "$CONFINED" config set-context --current --user program`)
	apply.Env = append(os.Environ(), "KUBECONFIG="+server.Kubeconfig(), "CONFINED="+m.kubeconfig, "PROGRAM="+m.program,
		"KUBECTL="+repositoryFile(t, filepath.Join("bin", "kubectl")),
		"DEFINITION="+repositoryFile(t, filepath.Join("examples", "virtualmachine", "crd.yaml")))
	said, err = apply.CombinedOutput()
	require.NoError(t, err, "%s", said)

	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: server.Kubeconfig()})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	m.machines = restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "default")
	eventually(t, "there are virtual machines", server.Failed(), func() (bool, error) {
		_, err := m.machines.List(t.Context(), api.ListOptions{})
		return err == nil, nil
	})
	t.Cleanup(m.kill)
	return m
}

// start runs the controller.
func (m *machineRoom) start() {
	m.running = exec.Command(m.program, "-state-dir="+m.stateDir)
	m.running.Env = append(os.Environ(), "KUBECONFIG="+m.kubeconfig)
	m.running.Stdout, m.running.Stderr = m.t.Output(), m.t.Output()
	require.NoError(m.t, m.running.Start())
}

// kill ends the controller in the middle of its work.
func (m *machineRoom) kill() {
	if m.running != nil {
		m.running.Process.Kill()
		m.running.Wait() // the error is the kill
		m.running = nil
	}
}

func (m *machineRoom) create(name string) {
	vm := &virtualmachine.VirtualMachine{}
	vm.APIVersion, vm.Kind, vm.Name = "cloudnative.tw/v1alpha1", virtualmachine.Kind, name
	vm.Spec.Resource = virtualmachine.ResourceList{CPU: "1", Memory: `"64Mi"`}
	_, err := m.machines.Create(m.t.Context(), vm, api.UpdateOptions{})
	require.NoError(m.t, err)
}

// phases returns the objects with their phases, and the number of machines.
func (m *machineRoom) phases() (phases map[string]string, machines int, err error) {
	list, err := m.machines.List(m.t.Context(), api.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	phases = map[string]string{}
	for _, vm := range list.Items {
		phases[vm.Name] = string(vm.Status.Phase)
	}
	servers, err := driver.NewMemory(m.stateDir)
	if err != nil {
		return nil, 0, err
	}
	return phases, len(servers.Names()), nil
}

// A controller that is killed repeatedly while machines are created and deleted leaves no zombie:
// neither a machine without an object nor an object that hangs.
func TestVirtualMachinesOfAControllerThatIsKilled(t *testing.T) {
	t.Parallel()
	m := newMachineRoom(t)
	const rounds = 12
	for round := range rounds {
		m.start()
		m.create(fmt.Sprint("vm-", round))
		if round >= 2 {
			require.NoError(t, m.machines.Delete(t.Context(), fmt.Sprint("vm-", round-2), api.DeleteOptions{}))
		}
		// Each run is longer than the one before: from the start of the program to well
		// after its first passes.
		time.Sleep(time.Duration(round) * 40 * time.Millisecond)
		m.kill()
	}
	m.start()
	want := map[string]string{fmt.Sprint("vm-", rounds-2): "Active", fmt.Sprint("vm-", rounds-1): "Active"}
	eventually(t, "two machines are left, and work", m.server.Failed(), func() (bool, error) {
		phases, machines, err := m.phases()
		return assert.ObjectsAreEqual(want, phases) && machines == len(want), err
	})
	for name := range want {
		require.NoError(t, m.machines.Delete(t.Context(), name, api.DeleteOptions{}))
	}
	eventually(t, "nothing is left", m.server.Failed(), func() (bool, error) {
		phases, machines, err := m.phases()
		return len(phases) == 0 && machines == 0, err
	})
}
