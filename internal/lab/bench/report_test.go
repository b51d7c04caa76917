package bench

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

var somewhere = Machine{
	Processor: "a processor", Cores: 4, GOMAXPROCS: 2, Memory: 8 << 30, Platform: "linux/amd64", Kernel: "Linux 6.1",
	Go:     "1.26.0",
	Commit: "0123456789abcdef0123 with changes", Load: 1.25,
}

// single returns results that have one round each.
func single(results ...*Result) (all []Rounds) {
	for _, r := range results {
		all = append(all, Rounds{r})
	}
	return all
}

// result has a thousand latencies, of 1, 2, 3 … µs.
func result(subject, handlers string, perEvent float64) *Result {
	latency := &Histogram{}
	for i := range 1000 {
		latency.Record(time.Duration(i+1) * time.Microsecond)
	}
	return &Result{
		Bench: "dispatch", Subject: subject,
		Parameters: []Parameter{{Name: "handlers", Value: handlers}, {Name: "handler cost", Value: "0s"},
			{Name: "distribution", Value: "uniform"}},
		Figures: []Figure{
			{Name: "events", Unit: PerSecond, Value: 1e9 / perEvent, Better: Higher},
			{Name: "time per event", Unit: Nanoseconds, Value: perEvent, Better: Lower},
			{Name: "allocations per event", Unit: Count, Value: 0.012345, Better: Lower},
			{Name: "peak memory", Unit: Bytes, Value: 12_912_345, Better: Lower},
		},
		Latency: latency,
		Proof: []string{"1000 events arrived at each of " + handlers +
			" handlers, each of them once, and afterwards the store held what the events had led to", "in order"},
	}
}

// bare has only the required fields.
func bare() *Result {
	return &Result{
		Bench: "sync", Subject: `a "quoted", <odd> name`,
		Parameters: []Parameter{{Name: "objects", Value: "100000"}},
		Figures:    []Figure{{Name: "CPU", Unit: Seconds, Value: 0.34, Better: Lower}},
		Latency:    &Histogram{},
	}
}

// Programs get the numbers as measured: those of the files are not rounded.
func TestGolden(t *testing.T) {
	two := []*Result{result("batching", "4", 412.5), result("coalescing", "4", 388.125)}
	sweep := []*Result{result("batching", "1", 100), result("batching", "2", 170.5),
		result("batching", "64", 9912.3)}
	both := []*Result{result("batching", "1", 100), result("channels", "1", 1000), result("batching", "2", 170),
		result("channels", "2", 2000), bare()}
	for name, write := range map[string]func(io.Writer) error{
		"table-two.txt":     func(w io.Writer) error { return Table(w, somewhere, "", single(two...)) },
		"sweep.txt":         func(w io.Writer) error { return Table(w, somewhere, "handlers", single(sweep...)) },
		"sweep-designs.txt": func(w io.Writer) error { return Table(w, somewhere, "handlers", single(both...)) },
		"results.json":      func(w io.Writer) error { return JSON(w, somewhere, single(two[0], bare())) },
		"table-rounds.txt": func(w io.Writer) error {
			return Table(w, somewhere, "", []Rounds{{two[0], result("batching", "4", 388.125)}, {sweep[0], sweep[0]}})
		},
		"results.bench": func(w io.Writer) error { return Benchfmt(w, somewhere, []Rounds{two, {sweep[0]}}) },
	} {
		var got bytes.Buffer
		require.NoError(t, write(&got), name)
		file := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), got.String(), "%s; if the change is intended, run the test with -update", name)
	}
}

// Figures are worth something only beside the machine that they are from.
func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	assert.Positive(t, m.Cores)
	assert.Equal(t, runtime.GOMAXPROCS(0), m.GOMAXPROCS)
	assert.Contains(t, m.System(), runtime.GOOS+"/"+runtime.GOARCH)
	assert.NotEmpty(t, m.Go)
	host, err := os.Hostname()
	require.NoError(t, err)
	assert.NotContains(t, m.String(), host, "the description must not name the machine")
	assert.Empty(t, Machine{Load: 0.4}.Busy())
	assert.Contains(t, Machine{Load: 3, Cores: 2}.Busy(), "load 3.0 on 2 cores")
}

func TestHuman(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{4_200_000, PerSecond, "4.2 M/s"}, {65, PerSecond, "65/s"}, {999_600, PerSecond, "1 M/s"},
		{310, Nanoseconds, "310 ns"}, {999.7, Nanoseconds, "1 µs"}, {0.4, Nanoseconds, "0.4 ns"},
		{1_234_567, Nanoseconds, "1.23 ms"}, {62e9, Nanoseconds, "62 s"}, {0, Nanoseconds, "0 ns"},
		{97, Bytes, "97 B"}, {12_912_345, Bytes, "12.3 MiB"}, {1 << 30, Bytes, "1 GiB"},
		{1023, Bytes, "1020 B"},
		{0.34, Seconds, "340 ms"}, {8.123, Seconds, "8.12 s"}, {0, Seconds, "0 s"},
		{0, Count, "0"}, {36, Count, "36"}, {100_000, Count, "100 k"},
		{0.012345, Count, "0.0123"},
		{0.25, "×", "0.25 ×"}, {1.5, "", "1.5"}, {-310, Nanoseconds, "-310 ns"},
		{math.NaN(), Bytes, "–"}, {math.Inf(1), Bytes, "–"},
	} {
		assert.Equal(t, c.want, Human(c.value, c.unit), "%v %s", c.value, c.unit)
	}
}
