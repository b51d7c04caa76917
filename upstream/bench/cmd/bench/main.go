// Command bench compares this project with client-go, both doing the same work in turns, and writes
// the figures and the page about them.
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
