package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// scenariosAtOnce is the number of parallel tests. Scenarios mostly wait for controllers (each
// namespace has a grace period of five seconds), so it does not depend on the number of processors.
const scenariosAtOnce = "24"

// TestMain stops the shared servers. A control plane that died fails the run even if no test
// noticed.
func TestMain(m *testing.M) {
	flag.Parse()
	if !given("test.parallel") {
		if err := flag.Set("test.parallel", scenariosAtOnce); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "the clusters that tests share:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// given reports whether a flag is on the command line.
func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
