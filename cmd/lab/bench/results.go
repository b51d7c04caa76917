package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
)

// jobResults is a job and its results, one for each round.
type jobResults struct {
	job
	rounds []*bench.Result
}

// last returns the result of the last round.
func (r jobResults) last() *bench.Result { return r.rounds[len(r.rounds)-1] }

// median returns the result for a table: the median of each figure, and the latencies of all rounds
// merged. It omits parameters chosen by the run where they differ between rounds.
func (r jobResults) median() *bench.Result {
	if len(r.rounds) == 1 {
		return r.rounds[0]
	}
	first := r.rounds[0]
	merged := &bench.Result{Bench: first.Bench, Subject: first.Subject, Proof: r.last().Proof}
	for _, parameter := range first.Parameters {
		if !slices.ContainsFunc(r.rounds, func(round *bench.Result) bool { return !slices.Contains(round.Parameters, parameter) }) {
			merged.Parameters = append(merged.Parameters, parameter)
		}
	}
	merged.Parameters = append(merged.Parameters, bench.Parameter{Name: "rounds", Value: strconv.Itoa(len(r.rounds)) + " (medians)"})
	for _, figure := range first.Figures {
		figure.Value, _, _ = r.spread(func(result *bench.Result) float64 {
			same, _ := result.Figure(figure.Name)
			return same.Value
		})
		merged.Figures = append(merged.Figures, figure)
	}
	for _, round := range r.rounds {
		if round.Latency != nil {
			if merged.Latency == nil {
				merged.Latency = &bench.Histogram{}
			}
			merged.Latency.Merge(round.Latency)
		}
	}
	return merged
}

// spread returns the median, minimum and maximum of a number over the rounds.
func (r jobResults) spread(of func(*bench.Result) float64) (median, low, high float64) {
	values := make([]float64, len(r.rounds))
	for i, round := range r.rounds {
		values[i] = of(round)
	}
	return bench.Median(values), slices.Min(values), slices.Max(values)
}

// medians returns the results for a table.
func medians(records []jobResults) []*bench.Result {
	var results []*bench.Result
	for _, record := range records {
		results = append(results, record.median())
	}
	return results
}

// everyRound returns the results for programs: all rounds, numbered if there are several.
func everyRound(records []jobResults) []*bench.Result {
	var results []*bench.Result
	for _, record := range records {
		for i, round := range record.rounds {
			if len(record.rounds) > 1 {
				numbered := *round
				numbered.Parameters = append(slices.Clone(round.Parameters), bench.Parameter{Name: "round", Value: strconv.Itoa(i + 1)})
				round = &numbered
			}
			results = append(results, round)
		}
	}
	return results
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
	outputTable = "table"
	outputJSON  = "json"
	outputCSV   = "csv"
)

func (o *outputFlags) addTo(flags *pflag.FlagSet) {
	program.WordVar(flags, &o.output, "output", "o", "output format", []string{outputTable, outputJSON, outputCSV}, "form of the results")
	flags.StringVar(&o.plot, "plot", "", "also draw the results, as SVG, into this `file`")
	flags.StringVar(&o.figure, "figure", "", "figure to plot: the `name` of a figure in the table, or p50, p90, p99, p99.9, max; default: all percentiles, in sweeps the first figure")
	flags.IntVar(&o.rounds, "rounds", 1, "number of rounds; tables and plots show medians, plots also the spread; JSON and CSV have every round")
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
func (o *outputFlags) write(w io.Writer, varied string, records []jobResults) error {
	switch {
	case o.output == outputJSON:
		return report.JSON(w, everyRound(records))
	case o.output == outputCSV:
		return report.CSV(w, everyRound(records))
	default:
		return report.Table(w, varied, medians(records))
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
