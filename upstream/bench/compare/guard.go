package compare

import (
	"context"
	"slices"
)

// Attempts is how often a [Guard] takes a measure before it believes that it is broken.
const Attempts = 4

// Guard returns the breaches that stay. What a comparison found broken is measured again, alone and with twice the rounds, up to [Attempts]
// times in all: a regression is there each time, a neighbour who took the processor for a while is not. What is good enough once is not
// measured any more. Records are those of the first attempt, that config describes; again is told of a breach before each further one, and
// may be nil.
//
// An error of a further attempt is no noise: it ends the guard.
func Guard(ctx context.Context, runner Runner, config Config, records []Record, again func(b Breach, attempt int)) ([]Breach, error) {
	config.Rounds *= 2
	broken := Broken(config.Measures, records)
	for attempt := 2; attempt <= Attempts && len(broken) > 0; attempt++ {
		config.Measures = slices.DeleteFunc(slices.Clone(config.Measures), func(m Measure) bool {
			return !slices.ContainsFunc(broken, func(b Breach) bool { return b.Name == m.Name })
		})
		if again != nil {
			for _, b := range broken {
				again(b, attempt)
			}
		}
		records, err := Run(ctx, runner, config)
		if err != nil {
			return nil, err
		}
		broken = Broken(config.Measures, records)
	}
	return broken, nil
}
