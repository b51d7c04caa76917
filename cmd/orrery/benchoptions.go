package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/report"
)

// benchOptions are the flags that all benchmarks share: what becomes of the results.
type benchOptions struct {
	output choiceFlag
	plot   string
	figure string
	rounds int
	quiet  bool
}

// The forms of results.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputCSV   = "csv"
)

func (o *benchOptions) addTo(flags *pflag.FlagSet) {
	choiceVar(flags, &o.output, "output", "o", "output format", []string{outputTable, outputJSON, outputCSV}, "form of the results")
	flags.StringVar(&o.plot, "plot", "", "also draw the results, as SVG, into this `file`")
	flags.StringVar(&o.figure, "figure", "", "what to plot: the `name` of a figure in the table, or p50, p90, p99, p99.9, max; default: all percentiles, in sweeps the first figure")
	flags.IntVar(&o.rounds, "rounds", 1, "how often everything is run, in turns; tables and plots show medians, plots also how far the rounds lie apart; JSON and CSV have every round")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
}

const mostRounds = 1000

func (o *benchOptions) check() error {
	switch extension := filepath.Ext(o.plot); {
	case extension != "" && !strings.EqualFold(extension, ".svg"):
		return fmt.Errorf("--plot writes SVG: name the file .svg, not %s", extension)
	case o.figure != "" && o.plot == "":
		return errors.New("--figure says what to plot: it needs --plot")
	case o.rounds < 1 || o.rounds > mostRounds:
		return fmt.Errorf("--rounds must be between 1 and %d, it is %d", mostRounds, o.rounds)
	}
	return nil
}

// write writes the results in the form that was asked for.
func (o *benchOptions) write(w io.Writer, varied string, records []benchRecord) error {
	switch {
	case o.output.String() == outputJSON:
		return report.JSON(w, everyRound(records))
	case o.output.String() == outputCSV:
		return report.CSV(w, everyRound(records))
	case varied != "":
		return report.Sweep(w, varied, medians(records))
	default:
		return report.Table(w, medians(records))
	}
}

// reservePlot makes sure that the plot can be written, before anything is measured for it. release removes the file if it
// was made for a plot that there is not going to be.
func (o *benchOptions) reservePlot() (release func(), err error) {
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
