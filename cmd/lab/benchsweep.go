package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// sweepFlags varies one flag of a benchmark.
type sweepFlags struct {
	benchmark
	own  []string // the flags of the workload
	vary string   // --vary
	flag string   // the varied flag, set by jobs
}

func (s *sweepFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&s.vary, "vary", "",
		"run once for each value of one flag: `flag=1,2,4`, or flag=1..64, which doubles")
}

// mostSweepValues limits a sweep: more values are a mistake, such as a range of nanoseconds to
// hours.
const mostSweepValues = 32

// jobs makes the jobs. given are the flags of the command; each job gets a copy with one flag
// replaced, so mistakes are found before the measurement.
func (s *sweepFlags) jobs(given *pflag.FlagSet) (jobs []job, err error) {
	values, err := s.parse(given)
	if err != nil {
		return nil, err
	}
	for _, value := range values {
		workload := s.workload()
		flags := pflag.NewFlagSet(s.flag, pflag.ContinueOnError)
		workload.addTo(flags)
		given.Visit(func(flag *pflag.Flag) {
			if slices.Contains(s.own, flag.Name) && flag.Name != s.flag && err == nil {
				err = flags.Set(flag.Name, flag.Value.String())
			}
		})
		if err == nil {
			err = program.FlagError(flags.Set(s.flag, value))
		}
		if err != nil {
			return nil, fmt.Errorf("--vary %s=%s: %w", s.flag, value, err)
		}
		for _, job := range workload.jobs() {
			job.value = flags.Lookup(s.flag).Value.String()
			jobs = append(jobs, job)
		}
	}
	return jobs, nil
}

// parse parses --vary.
func (s *sweepFlags) parse(given *pflag.FlagSet) (values []string, err error) {
	name, text, found := strings.Cut(s.vary, "=")
	s.flag = strings.TrimLeft(strings.TrimSpace(name), "-")
	if !found || text == "" {
		return nil, fmt.Errorf("--vary %s: it must be a flag and its values, such as %s=1..64", s.vary, s.own[1])
	}
	flag := given.Lookup(s.flag)
	if flag == nil || !slices.Contains(s.variable(given), s.flag) {
		return nil, fmt.Errorf("--vary %s: %q is not a flag that can be varied; use one of %s",
			s.vary, s.flag, strings.Join(s.variable(given), ", "))
	}
	if flag.Changed {
		return nil, fmt.Errorf("--%s has one value and --vary others: use only one of them", s.flag)
	}
	values = strings.Split(text, ",")
	if low, high, isRange := strings.Cut(text, ".."); isRange {
		if values, err = doubling(flag.Value, low, high); err != nil {
			return nil, fmt.Errorf("--vary %s: %w", s.vary, err)
		}
	}
	if len(values) > mostSweepValues {
		return nil, fmt.Errorf("--vary %s: %d values given; the limit is %d", s.vary, len(values), mostSweepValues)
	}
	return values, nil
}

// variable returns the flags that can be varied: all but those that take several values.
func (s *sweepFlags) variable(flags *pflag.FlagSet) []string {
	return slices.DeleteFunc(slices.Clone(s.own), func(name string) bool {
		choice, ok := flags.Lookup(name).Value.(*program.Choice)
		return ok && choice.Many()
	})
}

// doubling returns the values of a range: low, doubled repeatedly, and finally high.
func doubling(flag pflag.Value, low, high string) ([]string, error) {
	number, ok := flag.(*bench.Number)
	if !ok {
		return nil, errors.New("only numbers and durations have ranges; write a list with commas")
	}
	from, err := number.Parse(low)
	if err != nil {
		return nil, err
	}
	to, err := number.Parse(high)
	if err != nil {
		return nil, err
	}
	if from <= 0 || to <= from {
		return nil, fmt.Errorf("a range must begin above zero and end above its beginning")
	}
	var values []string
	for v := from; v < to && len(values) <= mostSweepValues; v *= 2 {
		values = append(values, number.Format(v))
	}
	return append(values, number.Format(to)), nil
}
