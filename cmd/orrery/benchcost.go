package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// benchCost is the flag for what a handler spends.
type benchCost time.Duration

func (c *benchCost) addTo(flags *pflag.FlagSet) {
	flags.DurationVar((*time.Duration)(c), "handler-cost", 0, "what each handler spends on an event: work below 50us, waiting from there on")
}

func (c benchCost) check() error {
	if c < 0 {
		return fmt.Errorf("--handler-cost must not be negative, it is %v", time.Duration(c))
	}
	return nil
}
