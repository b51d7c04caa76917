// Command conformance runs Kubernetes' own end-to-end specs for namespaces, unmodified, against a cluster.
//
//	conformance --kubeconfig FILE
//
// They are the specs that a distribution has to pass to call itself Kubernetes, "[sig-api-machinery] Namespaces
// [Serial]" and "[sig-api-machinery] OrderedNamespaceDeletion", taken from the k8s.io/kubernetes module. They check
// the namespace controller through the API alone, so they cannot tell whether kube-controller-manager's own controller
// or another one does the work.
//
// All flags of the official test program and of ginkgo are understood; the defaults of those that a bare control plane
// needs are set here. The exit code is 0 only when every selected spec ran and passed.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	_ "k8s.io/kubernetes/test/e2e/apimachinery" // the specs
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init" // events of the namespace when a spec fails
	_ "k8s.io/kubernetes/test/utils/format"             // how failed expectations print API objects
)

// wantSpecs is how many specs the default selection has to run. A name that changes upstream would otherwise go
// unnoticed: a run of no specs succeeds.
const wantSpecs = 8

// defaults are the flags whose defaults differ from the official test program's.
var defaults = map[string]string{
	// No cloud.
	"provider": "skeleton",
	// The nodes, if any, are fake: there are no system pods and daemon sets to wait for.
	"allowed-not-ready-nodes":  "-1",
	"node-schedulable-timeout": "1s",
	"ginkgo.focus":             `\[sig-api-machinery\] (Namespaces \[Serial\]|OrderedNamespaceDeletion)`,
	// The ninth spec belongs to a feature that official conformance runs leave out as well.
	"ginkgo.skip": `\[Feature:ComprehensiveNamespaceDraining\]|\[Slow\]`,
	// In the order in which they stand, which makes two runs comparable.
	"ginkgo.seed": "1",
	"ginkgo.v":    "true",
}

func main() {
	want := flag.Int("specs", wantSpecs, "how many specs have to run; 0 for any number, when --ginkgo.focus or --ginkgo.skip is given")
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintf(os.Stderr, "conformance: the default of --%s: %v\n", name, err)
			os.Exit(2)
		}
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "conformance: unexpected arguments %q\n", flag.Args())
		os.Exit(2)
	}
	if framework.TestContext.KubeConfig == "" {
		fmt.Fprintln(os.Stderr, "conformance: which cluster? Use --kubeconfig FILE or KUBECONFIG.")
		os.Exit(2)
	}
	os.Exit(run(*want))
}

// run runs the selected specs and returns the exit code.
func run(want int) int {
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)

	ran := 0
	ginkgo.ReportAfterSuite("count the specs", func(report ginkgo.Report) {
		for _, spec := range report.SpecReports {
			if spec.LeafNodeType.Is(types.NodeTypeIt) && !spec.State.Is(types.SpecStateSkipped|types.SpecStatePending) {
				ran++
			}
		}
	})
	suite, reporter := framework.CreateGinkgoConfig()
	passed := ginkgo.RunSpecs(testing{}, "Kubernetes namespace specs", suite, reporter)
	switch {
	case !passed:
		return 1
	case want != 0 && ran != want:
		fmt.Fprintf(os.Stderr, "conformance: %d specs ran, want %d\n", ran, want)
		return 1
	}
	return 0
}

// testing stands in for *testing.T: ginkgo reports the result to its caller as well, which is all that is needed here.
type testing struct{}

// Fail is called when a spec failed.
func (testing) Fail() {}
