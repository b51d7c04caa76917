// Command bench measures this project against client-go: both do the same work in turns, each in a
// process of its own. The textbook forms take turns as well, without a target. [Measures] is the
// table of what is compared with the targets; [Extras] are shown beside it. Each round of a scenario
// runs every side once, in an order that is reversed from round to round (A B, B A, ...), so that a
// disturbance of the machine affects both and the ratio of a round is worth more than its figures.
// Sides whose proofs differ did different work, which is an error. A worker process, or a controller
// on a real control plane, runs a side; the records become a table, bench.json and the page, where
// every word that depends on a figure is computed.
//
// To add a measure, write its scenario for every side, enter it in Measures, and describe it in
// texts/, where a text can depend on whether the target is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "Stopped. Nothing was written.")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	options, err := parse(arguments)
	if err != nil {
		return err
	}
	switch {
	case options.list:
		return list(os.Stdout)
	case options.render:
		return options.renderOnly()
	default:
		return options.compare(ctx)
	}
}
