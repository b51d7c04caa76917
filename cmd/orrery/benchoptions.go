package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"orrery/internal/bench"
	"orrery/internal/bench/report"
)

// benchOptions are the flags that all benchmarks share: what becomes of the results.
type benchOptions struct {
	output choiceFlag
	plot   string
	figure string
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
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
}

func (o *benchOptions) check() error {
	if o.figure != "" && o.plot == "" {
		return errors.New("--figure says what to plot: it needs --plot")
	}
	return nil
}

// write writes the results in the form that was asked for.
func (o *benchOptions) write(w io.Writer, varied string, results []*bench.Result) error {
	switch {
	case o.output.String() == outputJSON:
		return report.JSON(w, results)
	case o.output.String() == outputCSV:
		return report.CSV(w, results)
	case varied != "":
		return report.Sweep(w, varied, results)
	default:
		return report.Table(w, results)
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
