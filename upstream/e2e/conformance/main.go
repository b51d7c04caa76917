// Command conformance runs Kubernetes' own end-to-end specs for namespaces, workloads, garbage
// collection or the API server, unmodified, against a cluster.
//
//	conformance --kubeconfig FILE [--of workloads|garbage|server]
//
// The specs come from the k8s.io/kubernetes module. By default they are those that a certified
// distribution must pass: "[sig-api-machinery] Namespaces [Serial]" and "[sig-api-machinery]
// OrderedNamespaceDeletion". With --of workloads they are those of "[sig-apps] Deployment" and
// "[sig-apps] ReplicaSet" that need no containers, with --of garbage "[sig-api-machinery] Garbage
// collector". They check a controller through the API alone, so any controller can be tested. With
// --of server they are those of watches, discovery and lists in chunks.
//
// The command takes all flags of the official test program and of ginkgo, with defaults that suit a
// bare control plane. The exit code is 0 only when every selected spec ran and passed.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	_ "k8s.io/kubernetes/test/e2e/apimachinery" // the specs
	_ "k8s.io/kubernetes/test/e2e/apps"         // those of workloads
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init" // logs the namespace's events when a spec fails
	_ "k8s.io/kubernetes/test/utils/format"             // prints API objects in failed expectations
)

// selection is a choice of specs, used when the command line makes none.
type selection struct {
	// specs is the number of specs that must run: after a rename upstream a run of no specs would
	// succeed.
	specs int
	flags map[string]string
}

var selections = map[string]selection{
	"namespaces": {8, map[string]string{
		"ginkgo.focus": `\[sig-api-machinery\] (Namespaces \[Serial\]|OrderedNamespaceDeletion)`,
		// The ninth spec belongs to a feature that official conformance runs leave out too.
		"ginkgo.skip":         `\[Feature:ComprehensiveNamespaceDraining\]|\[Slow\]`,
		"ginkgo.label-filter": "",
	}},
	// docs/learn/replicasets-and-deployments.md explains why some are skipped.
	"workloads": {16, map[string]string{
		"ginkgo.focus":        `\[sig-apps\] (Deployment|ReplicaSet) `,
		"ginkgo.skip":         `should serve a basic image|proportional scaling|load-balancer|\[Feature:|\[FeatureGate:|\[Slow\]`,
		"ginkgo.label-filter": "",
	}},
	"garbage": {11, map[string]string{
		"ginkgo.focus":        `\[sig-api-machinery\] Garbage collector`,
		"ginkgo.skip":         "",
		"ginkgo.label-filter": "",
	}},
	"server": {10, map[string]string{
		"ginkgo.focus": `\[sig-api-machinery\] (Watchers|Discovery|Servers with support for API chunking)`,
		// It waits until etcd forgets a version.
		"ginkgo.skip":         "compacted away",
		"ginkgo.label-filter": "",
	}},
}

// defaults holds the other flags whose defaults differ from the official test program's.
var defaults = map[string]string{
	// No cloud.
	"provider": "skeleton",
	// Fake nodes have no system pods or daemon sets to wait for.
	"allowed-not-ready-nodes":  "-1",
	"node-schedulable-timeout": "1s",
	// A fixed seed makes two runs comparable.
	"ginkgo.seed": "1",
	"ginkgo.v":    "true",
	// Nine hundred other specs of this area are skipped.
	"ginkgo.silence-skips": "true",
}

func main() {
	want := flag.Int("specs", 0,
		"how many specs have to run (default: those of the selection, or any number when the command line "+
			"selects specs)")
	of := flag.String("of", "namespaces", "what the specs are about: namespaces, workloads, garbage or server")
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Sprintf("unexpected arguments %q", flag.Args()))
	}
	if framework.TestContext.KubeConfig == "" {
		fail("which cluster? Use --kubeconfig FILE or KUBECONFIG.")
	}
	given := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !isTerminal(os.Stdout) {
		defaults["ginkgo.no-color"] = "true"
	}
	setUnlessGiven(given, defaults)
	chosen, ok := selections[*of]
	if !ok {
		fail(fmt.Sprintf("there are no specs of %q; use namespaces, workloads, garbage or server", *of))
	}
	if !given["ginkgo.focus"] && !given["ginkgo.skip"] && !given["ginkgo.label-filter"] {
		setUnlessGiven(given, chosen.flags)
		if !given["specs"] {
			*want = chosen.specs
		}
	}
	os.Exit(run(*want))
}

// setUnlessGiven sets the flags that the command line did not set.
func setUnlessGiven(given map[string]bool, values map[string]string) {
	for name, value := range values {
		if given[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			fail(fmt.Sprintf("the default of --%s: %v", name, err))
		}
	}
}

// fail reports a mistake in the command line.
func fail(message string) {
	fmt.Fprintln(os.Stderr, "conformance:", message)
	os.Exit(2)
}

// run runs the selected specs and returns the exit code. want is the number that must run; 0 means
// any number.
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
	passed := ginkgo.RunSpecs(testing{}, "Kubernetes specs", suite, reporter)
	switch {
	case !passed:
		return 1
	case ran == 0:
		fmt.Fprintln(os.Stderr, "conformance: no spec ran")
		return 1
	case want != 0 && ran != want:
		fmt.Fprintf(os.Stderr, "conformance: %d specs ran, want %d\n", ran, want)
		return 1
	}
	return 0
}

// isTerminal reports whether a file is a character device; of the usual outputs only a terminal is.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// testing stands in for *testing.T: ginkgo also reports the result to its caller.
type testing struct{}

// Fail is called when a spec failed.
func (testing) Fail() {}
