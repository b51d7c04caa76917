package labscmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/labs/labtest"
	"orrery/internal/lab/labs/manifest"
)

// solved is the small repository with the reference as the learner's page.
func solved(t *testing.T) (dir string) {
	t.Helper()
	dir = repository(t)
	_, _, stderr := lab(t, "start", "04")
	require.Empty(t, stderr)
	labtest.Write(t, filepath.Join(dir, yours), labtest.Reference)
	return dir
}

func TestWrongUsageOfRun(t *testing.T) {
	solved(t)
	for want, args := range map[string]string{
		`--scene and --bench exclude each other (see "lab run --help")`: "04 --scene --bench",
		`--keep and --build exclude each other (see "lab run --help")`:  "04 --keep --build x",
		`--keep and --scene exclude each other (see "lab run --help")`:  "04 --keep --scene",
		`there is no benchmark for this; labs with one: `:               "04 --bench",
		`lab 04 has no scene; "lab demo --help" lists all scenes`:       "04 --scene",
		`no lab has passed yet; "lab list" shows them`:                  "--all",
		`which lab? "lab list" shows them; for example: lab run 08`:     "",
	} {
		code, _, stderr := lab(t, append([]string{"run"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, stderr, "lab: "+want, args)
	}
}

func TestTheProgramIsKept(t *testing.T) {
	dir := solved(t)
	code, stdout, stderr := lab(t, "run", "04", "--build", "mine")
	assert.Zero(t, code, stderr)
	assert.Contains(t, stdout, "mine has your page in it.\n")
	assert.FileExists(t, filepath.Join(dir, "mine"))
}

func TestTheWholeRuntimeNamesItsPages(t *testing.T) {
	dir := solved(t)
	code, stdout, _ := lab(t, "test", "04")
	require.Zero(t, code, stdout)
	code, stdout, _ = lab(t, "run", "--all")
	assert.Equal(t, 1, code, "the controller of the small repository ends at once")
	assert.Contains(t, stdout, "With your page of lab 04, Counter\n")
	assert.Contains(t, stdout, "Not yet. The controller's log is in workshop/work/run.log\n")

	assert.NotContains(t, stdout, "has not passed")
	labtest.Write(t, filepath.Join(dir, yours), labtest.Reference+"\n// changed\n")
	_, stdout, _ = lab(t, "run", "--all")
	assert.Contains(t, stdout, "Your page of lab 04, as it is now, has not passed its tests,\n")

	labtest.Write(t, filepath.Join(dir, yours), strings.Replace(labtest.Reference, "\tc.n += n // the reference does it so\n", "\tpanic(\"lab 04: Counter.Add is yours to write\")\n", 1))
	code, stdout, _ = lab(t, "run", "--all")
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "still to write: Counter.Add")
}

func TestTheBenchmarkShowsRatiosOfMedians(t *testing.T) {
	rounds := func(values ...float64) (results []bench.Result) {
		for _, value := range values {
			results = append(results, bench.Result{Figures: []bench.Figure{
				{Name: "processed", Unit: bench.PerSecond, Value: value}, {Name: "rate for latency", Unit: bench.PerSecond, Value: value / 2},
				{Name: "allocations", Unit: bench.Count, Value: 0},
			}})
		}
		return results
	}
	root := newRoot()
	run, _, err := root.Find([]string{"run"})
	require.NoError(t, err)
	var out strings.Builder
	run.SetOut(&out)
	s := &session{Command: run, lang: "en"}
	s.printBench([]*contender{
		{name: "yours", rounds: rounds(5000, 1000, 2000)}, {name: "textbook", rounds: rounds(4000, 1, 9000)}, {name: "fast", rounds: rounds(8000, 8000, 8000)},
	})
	table, _, _ := strings.Cut(out.String(), "Medians of 3 rounds.")
	assert.Equal(t, ""+
		"                 yours   textbook      ×    fast      ×\n"+
		"     processed   2 k/s      4 k/s   0.50   8 k/s   0.25\n"+
		"   allocations       0          0      –       0      –\n", table)
}

func TestTheFormOfAPageInTheBenchmark(t *testing.T) {
	assert.Equal(t, "textbook", benchForm(manifest.Run{}))
	assert.Equal(t, "inorder", benchForm(manifest.Run{Gears: "textbook,deltafifo=inorder"}))
}

func TestAllUsesThePagesThatRun(t *testing.T) {
	page := func(path, gears, program string) *manifest.Lab {
		return &manifest.Lab{Files: []manifest.File{{Path: path}}, Run: manifest.Run{Gears: gears, Program: program}}
	}
	queue, fifo := page("queue/queue.go", "textbook", ""), page("deltafifo/fifo.go", "", "")
	inorder, machines := page("deltafifo/inorder/fifo.go", "textbook,deltafifo=inorder", ""), page("examples/m/c.go", "", "examples/m")
	for _, c := range []struct {
		run, lab *manifest.Lab
		want     bool
	}{
		{queue, fifo, true}, {fifo, queue, true}, {queue, inorder, false}, {inorder, fifo, false}, {inorder, queue, true},
		{inorder, inorder, true}, {queue, machines, false}, {machines, queue, false},
	} {
		assert.Equal(t, c.want, c.run.Run.Uses(c.lab), "%s with %s", c.run.Files[0].Path, c.lab.Files[0].Path)
	}
}

func TestMain(m *testing.M) {
	os.Unsetenv("KUBECONFIG") // no test uses the machine's cluster
	os.Exit(m.Run())
}
