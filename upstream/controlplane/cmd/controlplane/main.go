// Command controlplane is a whole Kubernetes control plane in one binary: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, each a subcommand with the genuine program's flags,
// and fake nodes. "controlplane up" runs them all in the foreground; package
// orrery/upstream/controlplane runs them for tests. The programs share nine tenths of their code,
// and linking is a large part of the build.
package main

import (
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // time zones for CronJobs

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = `controlplane is a Kubernetes control plane in one binary.

Run all of it:
  controlplane up [flags]                      see "controlplane up --help"

Run one component, with the flags of the program of that name:
  controlplane etcd [flags]
  controlplane kube-apiserver [flags]
  controlplane kube-controller-manager [flags]
  controlplane kube-scheduler [flags]
  controlplane kwok [flags]                    fake nodes
`

// components maps a subcommand to its main function, which returns the exit code. os.Args then
// looks as if the component were a program of its own, as its flag parsing expects.
var components = map[string]func() int{
	"up":   runUp,
	"kwok": runKwok,
	"etcd": func() int {
		etcdmain.Main(os.Args) // exits on failure
		return 0
	},
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
}

func main() {
	if len(os.Args) < 2 {
		exitWithUsage(os.Stderr, 2)
	}
	name := os.Args[1]
	if name == "help" || name == "-h" || name == "--help" {
		exitWithUsage(os.Stdout, 0)
	}
	run, ok := components[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "controlplane: unknown component %q\n\n", name)
		exitWithUsage(os.Stderr, 2)
	}
	os.Args = os.Args[1:]
	os.Exit(run())
}

func exitWithUsage(w io.Writer, code int) {
	fmt.Fprint(w, usage)
	os.Exit(code)
}
