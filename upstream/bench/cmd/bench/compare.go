package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orrery/upstream/bench/compare"
)

// limit bounds the time of one side for one scenario.
const limit = 3 * time.Minute

func list(w io.Writer) error {
	for _, m := range slices.Concat(compare.Measures(), compare.Extras()) {
		if _, err := fmt.Fprintf(w, "%-60s %s\n", m.Name, m.Title); err != nil {
			return err
		}
	}
	return nil
}

// measures returns the selected measures.
func (o *options) measures() ([]compare.Measure, error) {
	measures := compare.Measures()
	if o.quick {
		measures = slices.DeleteFunc(measures, func(m compare.Measure) bool { return !m.Quick })
		for i := range measures {
			measures[i].Textbook = "" // it has no target
		}
	} else {
		measures = append(measures, compare.Extras()...)
	}
	if o.only == "" {
		return measures, nil
	}
	return compare.Only(measures, strings.Split(o.only, ","))
}

// compare measures, prints a table, and writes the selected files.
func (o *options) compare(ctx context.Context) (err error) {
	measures, err := o.measures()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	programs := filepath.Dir(self) // with bench-ours, bench-theirs, orrery and controlplane
	screen := newConsole()
	defer screen.close()
	runners := newRunners(programs, screen.say)
	defer func() { err = errors.Join(err, runners.stop()) }()
	machine := compare.ThisMachine(filepath.Join(programs, "bench-theirs"), filepath.Join(programs, "controlplane"))
	if warning := machine.Busy(); warning != "" {
		screen.say("%s", warning)
	}
	config := compare.Config{
		Measures: measures, Rounds: o.rounds, Effort: o.effort(), Limit: limit,
		Turn: screen.turn, Finished: screen.finished,
	}
	records, err := compare.Run(ctx, runners, config)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	screen.close()
	results := compare.Results{Machine: machine, Records: records}
	if tableErr := results.WriteTable(os.Stdout); tableErr != nil {
		return errors.Join(err, tableErr)
	}
	switch {
	case err != nil:
		o.page = "" // the page needs both sides
		return errors.Join(fmt.Errorf("some measures failed, so the page is unchanged:\n%w", err), o.write(results))
	case o.quick:
		return errors.Join(o.write(results), compare.MissedTargets(records))
	default:
		return o.write(results)
	}
}
