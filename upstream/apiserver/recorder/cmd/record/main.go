// Command record rewrites the recordings of internal/lab/apiserver/apiservertest.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"orrery/internal/lab/apiserver/apiservertest"
	"orrery/upstream/apiserver/recorder"
	"orrery/upstream/controlplane"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "record from the server of this file, on which no script has been played yet; default: a control plane that is started for it")
	dir := flag.String("dir", "../internal/lab/apiserver/apiservertest/testdata", "directory of the recordings")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: record [flags] [theme...]   (without themes: all)")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, dir string, themes []string) (err error) {
	scripts, err := apiservertest.Scripts()
	if err != nil {
		return err
	}
	if kubeconfig == "" {
		cp, err := controlplane.Start(ctx, recorder.Config())
		if err != nil {
			return err
		}
		defer func() { _ = cp.Stop() }()
		kubeconfig = cp.Kubeconfig()
	}
	target, err := recorder.TargetFor(kubeconfig)
	if err != nil {
		return err
	}
	for _, script := range scripts {
		if len(themes) > 0 && !slices.Contains(themes, script.Theme) {
			continue
		}
		if err := recorder.Record(ctx, target, script, dir); err != nil {
			return err
		}
		fmt.Printf("%-16s %d answers\n", script.Theme, len(script.Cases))
	}
	return nil
}
