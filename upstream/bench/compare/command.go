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
)

// limit bounds the time of one side for one scenario.
const limit = 3 * time.Minute

func list(w io.Writer) error {
	for _, m := range slices.Concat(Measures(), Extras()) {
		if _, err := fmt.Fprintf(w, "%-60s %s\n", m.Name, m.Title); err != nil {
			return err
		}
	}
	return nil
}

// measures returns the selected measures.
func (o *options) measures() ([]Measure, error) {
	measures := Measures()
	if o.quick {
		measures = slices.DeleteFunc(measures, func(m Measure) bool { return !m.Quick })
		for i := range measures {
			measures[i].Textbook = "" // it has no target
		}
	} else {
		measures = append(measures, Extras()...)
	}
	if o.only == "" {
		return measures, nil
	}
	return Only(measures, strings.Split(o.only, ","))
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
	machine := ThisMachine(filepath.Join(programs, "bench-theirs"), filepath.Join(programs, "controlplane"))
	if warning := machine.Busy(); warning != "" {
		screen.say("%s", warning)
	}
	config := Config{
		Measures: measures, Rounds: o.rounds, Effort: o.effort(), Limit: limit,
		Turn: screen.turn, Finished: screen.finished,
	}
	records, err := Run(ctx, runners, config)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	screen.close()
	results := Results{Machine: machine, Records: records}
	if tableErr := results.WriteTable(os.Stdout); tableErr != nil {
		return errors.Join(err, tableErr)
	}
	switch {
	case err != nil:
		o.page = "" // the page needs both sides
		return errors.Join(fmt.Errorf("some measures failed, so the page is unchanged:\n%w", err), o.write(results))
	case o.quick:
		return errors.Join(o.write(results), MissedTargets(records))
	default:
		return o.write(results)
	}
}
