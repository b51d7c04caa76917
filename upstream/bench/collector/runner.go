// Package collector compares garbage collection by whole programs: "orrery run" with its garbage
// collector, and kube-controller-manager with no other controller. Each run has an API server in
// memory, without a collector, filled with owners and dependents, and a fresh process of one side.
// When the process has built its graph and is idle, the run deletes some owners and waits for their
// dependents. It returns figures only if exactly these are gone. Neither side limits its requests.
package collector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/internal/lab/bench"
	"orrery/restclient/api"
	"orrery/upstream/bench/compare"
	"orrery/upstream/controlplane"
)

// Owned is the scenario: many objects with owners, a tenth of which are deleted.
const Owned = "collector/owned"

// About 100,000 objects.
const (
	owners         = 100
	deletedOwners  = owners / 10
	manyDependents = 1000 // of each owner
	fewDependents  = 20
)

// runTimeout bounds a run at several times what the slower side takes.
const runTimeout = 3 * time.Minute

// Config names the programs.
type Config struct {
	Orrery, ControlPlane string // paths of the programs
}

// command returns a side's program with its arguments.
func (c Config) command(side compare.Side, kubeconfig string) (path string, args []string, known bool) {
	const flags = "--controllers=garbage-collector-controller --leader-elect=false"
	ours := append([]string{"run", "--kubeconfig=" + kubeconfig, "--metrics-port=0", "--kube-api-qps=-1"}, strings.Fields(flags)...)
	switch side {
	case compare.Ours:
		return c.Orrery, ours, true
	case compare.Textbook:
		return c.Orrery, append(ours, "--gears=textbook"), true
	case compare.Theirs:
		args := []string{controlplane.ControllerManager, "--kubeconfig=" + kubeconfig, "--secure-port=0", "--kube-api-qps=1e6", "--kube-api-burst=1000000"}
		return c.ControlPlane, append(args, strings.Fields(flags)...), true
	}
	return "", nil, false
}

// Run runs one side once. Its figures are "s", from the deletion of the owners to that of the last
// dependent; "cpu s", the processor time of the process since its start; and "peak MiB", its
// largest resident memory.
func Run(ctx context.Context, config Config, side compare.Side, effort bench.Effort) (bench.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	directory, err := os.MkdirTemp("", "collector-")
	if err != nil {
		return bench.Outcome{}, err
	}
	defer os.RemoveAll(directory)
	kubeconfig := filepath.Join(directory, "kubeconfig")
	path, args, known := config.command(side, kubeconfig)
	if !known {
		return bench.Outcome{}, fmt.Errorf("%s: there is no garbage collector of %s", Owned, side)
	}
	c, err := newCluster(ctx, kubeconfig, effort.Of(manyDependents, fewDependents))
	if err != nil {
		return bench.Outcome{}, err
	}
	defer c.server.Stop(context.WithoutCancel(ctx))
	process, err := controlplane.StartProcess(controlplane.ProcessConfig{
		Name: "collector-" + string(side), Path: path, Args: args, LogFile: filepath.Join(directory, "log"),
	})
	if err != nil {
		return bench.Outcome{}, err
	}
	outcome, err := c.measure(ctx, process)
	process.Stop(context.WithoutCancel(ctx))
	if err = errors.Join(err, process.Err()); err != nil {
		return bench.Outcome{}, fmt.Errorf("%s by %s: %w", Owned, side, err)
	}
	return outcome, nil
}

// cluster is an API server with owners and dependents.
type cluster struct {
	server     *apiserver.Server
	dependents int           // of each owner
	watched    atomic.Bool   // the objects are watched
	left       atomic.Int64  // objects still to be deleted
	done       chan struct{} // closed when left is 0
}

func newCluster(ctx context.Context, kubeconfig string, dependents int) (*cluster, error) {
	c := &cluster{dependents: dependents, done: make(chan struct{})}
	c.left.Store(int64(deletedOwners * (1 + dependents)))
	var err error
	c.server, err = apiserver.New(apiserver.Config{
		Unprotected: true, NoKubelet: true, NoCollector: true,
		Trace: &apiserver.Trace{RequestStarted: func(r apiserver.RequestInfo) {
			if r.Verb == "watch" && strings.HasPrefix(r.URI, "/api/v1/configmaps?") {
				c.watched.Store(true)
			}
		}},
		StoreTrace: &store.Trace{Committed: func(prefix string, e store.Event) {
			if strings.HasSuffix(prefix, "/configmaps") && e.Type == api.WatchDeleted && c.left.Add(-1) == 0 {
				close(c.done)
			}
		}},
	})
	if err != nil {
		return nil, err
	}
	err = c.fill(ctx)
	if err == nil {
		err = c.server.Start(ctx)
	}
	if err == nil {
		err = c.server.WriteKubeconfig(kubeconfig)
	}
	if err != nil {
		return nil, errors.Join(err, c.server.Stop(ctx))
	}
	return c, nil
}

func (c *cluster) target(name string) registry.Target {
	definition, _ := c.server.Catalog().Lookup(api.GroupVersionResource{Version: "v1", Resource: "configmaps"}) // built in
	return registry.Target{Definition: definition, Version: "v1", Namespace: "default", Name: name}
}

func ownerName(i int) string { return "owner-" + strconv.Itoa(i) }

func (c *cluster) fill(ctx context.Context) error {
	create := func(name string, references ...any) (uid string, err error) {
		o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": "default", "ownerReferences": references}}}
		created, err := c.server.Registry().Create(ctx, c.target(name), o, registry.WriteOptions{User: "bench"})
		if err != nil {
			return "", err
		}
		return created.UID, nil
	}
	for i := range owners {
		uid, err := create(ownerName(i))
		if err != nil {
			return err
		}
		for k := range c.dependents {
			reference := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": ownerName(i), "uid": uid, "blockOwnerDeletion": true}
			if _, err := create(fmt.Sprintf("%s-%d", ownerName(i), k), reference); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure waits until the process has built its graph, deletes owners, and waits until their
// dependents are gone.
func (c *cluster) measure(ctx context.Context, process *controlplane.Process) (bench.Outcome, error) {
	if err := c.awaitRest(ctx, process); err != nil {
		return bench.Outcome{}, err
	}
	began := time.Now()
	for i := range deletedOwners {
		policy := api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground}
		if _, _, err := c.server.Registry().Delete(ctx, c.target(ownerName(i)), policy, registry.WriteOptions{User: "bench"}); err != nil {
			return bench.Outcome{}, err
		}
	}
	select {
	case <-c.done:
	case <-process.Done():
		return bench.Outcome{}, process.Err()
	case <-ctx.Done():
		return bench.Outcome{}, fmt.Errorf("%d objects are still there: %w", c.left.Load(), context.Cause(ctx))
	}
	took := time.Since(began)
	if err := c.awaitRest(ctx, process); err != nil {
		return bench.Outcome{}, err
	}
	_, peak := bench.ResidentMemoryOf(process.PID())
	spent, err := processorTime(process.PID())
	if err != nil {
		return bench.Outcome{}, err
	}
	page, err := c.server.Registry().List(c.target(""), api.ListOptions{})
	if err != nil {
		return bench.Outcome{}, err
	}
	rest := 0
	for _, o := range page.Items {
		if strings.HasPrefix(o.Key.Name, "owner-") && !o.Deleting {
			rest++
		}
	}
	if want := (owners - deletedOwners) * (1 + c.dependents); rest != want {
		return bench.Outcome{}, fmt.Errorf("%d objects with living owners should be there, and %d are", want, rest)
	}
	return bench.Outcome{
		Figures: map[string]float64{"s": took.Seconds(), "cpu s": spent.Seconds(), "peak MiB": float64(peak) / (1 << 20)},
		Proof:   fmt.Sprintf("%d owners and %d dependents are gone, the other %d objects are there", deletedOwners, deletedOwners*c.dependents, rest),
	}, nil
}

// awaitRest blocks until the process watches the objects and has been idle for a second.
func (c *cluster) awaitRest(ctx context.Context, process *controlplane.Process) error {
	for before := time.Duration(-1); ; {
		spent, err := processorTime(process.PID())
		if err != nil {
			return err
		}
		if c.watched.Load() && before >= 0 && spent-before <= restingTime {
			return nil
		}
		before = spent
		select {
		case <-time.After(time.Second):
		case <-process.Done():
			return process.Err()
		case <-ctx.Done():
			return fmt.Errorf("waiting until the process is idle: %w", context.Cause(ctx))
		}
	}
}

// restingTime is the processor time in a second that counts as idle.
const restingTime = 30 * time.Millisecond

// processorTime returns the processor time that a process has used.
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, behind, _ := strings.Cut(string(text), ") ") // the name may contain blanks
	fields := strings.Fields(behind)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, text)
	}
	const tick = 10 * time.Millisecond // USER_HZ, 100 on every architecture that Go has for Linux
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}
