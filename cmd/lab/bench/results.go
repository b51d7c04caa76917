package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench/report"
)

// jobResults is a job and its results.
type jobResults struct {
	job
	rounds report.Rounds
}

// outputFlags are the output flags that all benchmarks share.
type outputFlags struct {
	output string
	plot   string
	figure string
	rounds int
	quiet  bool
}

// The output formats.
const (
	outputTable    = "table"
	outputJSON     = "json"
	outputBenchfmt = "benchfmt"
)

func (o *outputFlags) addTo(flags *pflag.FlagSet) {
	program.WordVar(flags, &o.output, "output", "o", "output format",
		[]string{outputTable, outputJSON, outputBenchfmt}, "form of the results; benchfmt is for benchstat")
	flags.StringVar(&o.plot, "plot", "", "also draw the results, as SVG, into this `file`")
	flags.StringVar(&o.figure, "figure", "", "figure to plot: the `name` of a figure in the table, or p50, p90, p99, p99.9, max; default: all percentiles, in sweeps the first figure")
	flags.IntVar(&o.rounds, "rounds", 3,
		"number of rounds; tables and plots show medians and the spread, the other formats every round")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
}

const mostRounds = 1000

func (o *outputFlags) check() error {
	switch extension := filepath.Ext(o.plot); {
	case extension != "" && !strings.EqualFold(extension, ".svg"):
		return fmt.Errorf("--plot writes SVG: name the file .svg, not %s", extension)
	case o.figure != "" && o.plot == "":
		return errors.New("--figure names the figure to plot: it needs --plot")
	case o.rounds < 1 || o.rounds > mostRounds:
		return fmt.Errorf("--rounds must be between 1 and %d, it is %d", mostRounds, o.rounds)
	}
	return nil
}

// write writes the results in the chosen format.
func (o *outputFlags) write(w io.Writer, where report.Machine, varied string, records []jobResults) error {
	var all []report.Rounds
	for _, record := range records {
		all = append(all, record.rounds)
	}
	switch o.output {
	case outputJSON:
		return report.JSON(w, where, report.Every(all))
	case outputBenchfmt:
		return report.Benchfmt(w, where, report.Every(all))
	default:
		return report.Table(w, where, varied, all)
	}
}

// reservePlot checks before the measurement that the plot can be written. release removes the file
// if it was created for a plot that is not drawn.
func (o *outputFlags) reservePlot() (release func(), err error) {
	if o.plot == "" {
		return func() {}, nil
	}
	_, before := os.Stat(o.plot)
	file, err := os.OpenFile(o.plot, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, plotError(err)
	}
	file.Close()
	return func() {
		if errors.Is(before, fs.ErrNotExist) {
			os.Remove(o.plot)
		}
	}, nil
}

func plotError(err error) error {
	return fmt.Errorf("the plot cannot be written: %w; choose another place with --plot", err)
}
