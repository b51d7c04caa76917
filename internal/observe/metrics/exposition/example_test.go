package exposition_test

import (
	"os"

	"orrery/internal/observe/metrics/exposition"
)

func Example() {
	var registry exposition.Registry
	passes := registry.Counters(exposition.Desc{
		Name: "passes_total", Kind: exposition.CounterKind, Help: "Passes, by how they ended.", Labels: []string{"result"},
	})
	passes.With("done").Inc()
	passes.With("done").Inc()
	passes.With("failed").Inc()
	if err := registry.WriteText(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// # HELP passes_total Passes, by how they ended.
	// # TYPE passes_total counter
	// passes_total{result="done"} 2
	// passes_total{result="failed"} 1
}
