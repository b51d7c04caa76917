package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// scenariosAtOnce is how many tests that said t.Parallel run at the same time. Scenarios spend their time waiting for
// controllers (every namespace is left alone for five seconds first), so the number of processors is no measure.
const scenariosAtOnce = "24"

// TestMain ends what the tests share. A control plane that died in the middle fails the run even when no test noticed.
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

// given tells whether a flag stands on the command line.
func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
