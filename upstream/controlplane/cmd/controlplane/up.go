package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"orrery/upstream/controlplane"
)

const upUsage = `Runs a Kubernetes control plane in the foreground until Ctrl-C.

Without --namespace-controller, deleted namespaces stay Terminating until
another controller, such as "orrery run --kubeconfig FILE", empties them.

Usage:
  controlplane up [flags]

Flags:
`

// upFlags holds the flags of "controlplane up".
type upFlags struct {
	config     controlplane.Config
	kubeconfig string
}

func (f *upFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.config.NamespaceController, "namespace-controller", false,
		"run kube-controller-manager's own namespace controller")
	flags.StringSliceVar(&f.config.Controllers, "controllers", controlplane.DefaultControllers(),
		"other controllers of kube-controller-manager to run; '*' for all")
	flags.IntVar(&f.config.FakeNodes, "nodes", 1,
		"number of fake nodes; with 0 there is no scheduler either, and pods stay pending")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "",
		"where to write the administrator's kubeconfig (default: in the directory)")
	flags.BoolVar(&f.config.DisableWatchCache, "disable-watch-cache", false, "serve lists and watches from etcd")
}

func runUp() int {
	var f upFlags
	flags := pflag.NewFlagSet("controlplane up", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() { fmt.Fprint(os.Stderr, upUsage+flags.FlagUsages()) }
	f.register(flags)
	switch err := flags.Parse(os.Args[1:]); {
	case err == pflag.ErrHelp:
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "controlplane up:", err)
		return 2
	}
	if err := f.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (f *upFlags) run() (err error) {
	// A closing terminal sends SIGHUP.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if f.config.Binary, err = os.Executable(); err != nil {
		return err
	}
	f.config.Log = os.Stderr
	cp, err := controlplane.Start(ctx, f.config)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("controlplane up: interrupted before it was ready")
	}
	if err != nil {
		return err
	}
	kubeconfig, err := f.publish(cp)
	if err != nil {
		_ = cp.Stop() // the first error says more
		return err
	}
	fmt.Printf("\nexport KUBECONFIG=%s\n\nLogs and certificates: %s\nCtrl-C ends the control plane.\n", kubeconfig,
		cp.Dir())

	select {
	case <-ctx.Done():
		cancel() // a second Ctrl-C ends this process at once
		fmt.Fprintln(os.Stderr, "stopping")
	case <-cp.Failed():
	}
	return cp.Stop()
}

// publish copies the administrator's kubeconfig to --kubeconfig and returns its path.
func (f *upFlags) publish(cp *controlplane.ControlPlane) (string, error) {
	if f.kubeconfig == "" {
		return cp.Kubeconfig(), nil
	}
	data, err := os.ReadFile(cp.Kubeconfig())
	if err != nil {
		return "", err
	}
	return f.kubeconfig, os.WriteFile(f.kubeconfig, data, 0o600)
}
