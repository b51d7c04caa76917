package served_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
)

// TestMain plays more transcripts at a time than there are processors, since they mostly wait.
// Named curl, the program is curl.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "curl" {
		if err := curl(os.Args); err != nil {
			panic(err)
		}
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write what kubectl prints on a genuine control plane into the transcripts")

// onGenuine starts a genuine control plane for a test and returns its administrator's kubeconfig.
func onGenuine(t *testing.T) string {
	cp, err := controlplane.Start(t.Context(), controlplane.Config{NamespaceController: true, Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	runVirtualMachines(t, cp.Kubeconfig())
	return cp.Kubeconfig()
}

// onServed starts the server in memory with the controllers that the genuine control plane has.
func onServed(t *testing.T) string {
	server, err := served.Start(t.Context(), served.Config{
		Args:        []string{"--nodes=0"},
		Controllers: append(served.NamespaceControllers(), "namespace-controller"),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	runVirtualMachines(t, server.Kubeconfig())
	return server.Kubeconfig()
}

// TestTranscripts compares kubectl's output on the server in memory with its output on a genuine
// control plane. A transcript in testdata is a terminal session: lines that begin with "$ "
// (continued by "> ") are run by a shell, the lines below are their output. Transcripts are written
// by hand up to the output, which
//
//	go test ./apiserver/served -run TestTranscripts -update
//
// records on a genuine control plane. The test then plays each transcript with each kubectl of this
// machine (bin/kubectl and the one in PATH) on "lab serve", and with bin/kubectl on a genuine
// control plane. Ages, times, UIDs, versions and addresses are masked; the rest of the output and
// the exit codes must be equal. The test needs bin/lab, bin/orrery, bin/controlplane and bin/kubectl.
func TestTranscripts(t *testing.T) {
	built, err := controlplane.FindUp(filepath.Join("bin", "kubectl"))
	require.NoError(t, err)
	transcripts := readTranscripts(t)
	if *update {
		writeTranscripts(t, built, transcripts)
		return
	}
	playAll := func(t *testing.T, kubectl, kubeconfig string) {
		for _, tr := range transcripts {
			t.Run(tr.name, func(t *testing.T) {
				t.Parallel()
				played, err := newTerminal(t, kubectl, kubeconfig).play(t.Context(), tr)
				require.NoError(t, err)
				assert.Equal(t, tr.String(), played.String())
			})
		}
	}
	t.Run("genuine", func(t *testing.T) {
		t.Parallel()
		playAll(t, built, onGenuine(t))
	})
	for _, kubectl := range kubectls(t, built) {
		t.Run("served"+filepath.Dir(kubectl), func(t *testing.T) {
			t.Parallel()
			playAll(t, kubectl, onServed(t))
		})
	}
}

func writeTranscripts(t *testing.T, kubectl string, transcripts []*transcript) {
	kubeconfig := onGenuine(t)
	for _, tr := range transcripts {
		played, err := newTerminal(t, kubectl, kubeconfig).play(t.Context(), tr)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join("testdata", tr.name+".txt"), []byte(played.String()), 0o644))
	}
}

// steady is a driver whose servers have a constant usage.
type steady struct{ *driver.Memory }

func (d steady) GetServerStatus(ctx context.Context, name string) (driver.Status, error) {
	status, err := d.Memory.GetServerStatus(ctx, name)
	status.MemoryPercentage = 0.10977787071142493 // the article's
	return status, err
}

// runVirtualMachines runs the controller of examples/virtualmachine, which waits for its resource,
// until the test ends.
func runVirtualMachines(t *testing.T, path string) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	cache := informer.NewSharedIndexInformer(machines, informer.Config[*virtualmachine.VirtualMachine]{
		Name: "virtualmachines",
		Reflector: reflector.Config[*virtualmachine.VirtualMachine]{
			Backoff: reflector.BackoffConfig{Max: time.Second}, // the resource comes and goes
		},
	})
	controller, err := virtualmachine.NewController(virtualmachine.Config{
		Machines: cache, Client: machines, Driver: steady{&driver.Memory{}}, UsagePeriod: time.Hour,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { cache.Run(ctx) })
	running.Go(func() { controller.RunWithin(ctx, ctx) })
	t.Cleanup(func() { stop(); running.Wait(); client.Close() })
}
