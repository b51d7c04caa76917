// Command chaos plays seeds of internal/lab/chaos: many, side by side, or one again that has failed. "make chaos-virtual" calls
// it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"

	"orrery/internal/lab/chaos"
)

// options are what the command line says.
type options struct {
	seed     uint64
	seeds    int
	duration time.Duration
	workers  int
	failures string // directory
	worker   bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	case o.worker:
		work(os.Stdin, os.Stdout, o.duration)
		return
	}
	if !run(ctx, o, os.Stdout) {
		os.Exit(1)
	}
}

func parse(arguments []string) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.Uint64Var(&o.seed, "seed", 0, "play this seed only, or with -seeds so many from it on")
	flags.IntVar(&o.seeds, "seeds", 0, "how many seeds to play, from 1 on (default 1000)")
	flags.DurationVar(&o.duration, "duration", chaos.DefaultDuration, "how long the storms of a seed last together, in virtual time")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "how many processes play side by side")
	flags.StringVar(&o.failures, "failures", "build/chaos", "the directory into which the plans of seeds that fail are written")
	flags.BoolVar(&o.worker, "worker", false, "play the seeds that come from standard input (for the program itself)")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("there are no arguments besides flags, but %q", flags.Args())
	}
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "seed" })
	switch {
	case o.seeds == 0 && given:
		o.seeds = 1
	case o.seeds == 0:
		o.seeds = defaultSeeds
	}
	if !given {
		o.seed = 1
	}
	if o.seeds < 0 || o.workers < 1 || o.duration <= 0 {
		return o, errors.New("-seeds, -workers and -duration have to be positive")
	}
	return o, nil
}

const defaultSeeds = 1000
