package chaos

import (
	"io"
	"time"
)

// Config says what run is wanted. Only Seed has no useful zero value of its own: 0 is a seed like any other.
type Config struct {
	// Seed decides the plan.
	Seed uint64
	// Duration is how long disturbances and the quiet points between them go on. Default: two minutes.
	Duration time.Duration
	// Dir receives the logs of all programs, and the report of a run that fails. It must not exist or be empty. Default: a
	// temporary directory, which is removed when the run succeeds.
	Dir string
	// Log receives what happens, a line for each step. Default: nowhere.
	Log io.Writer
	// ControlPlane is the program of the control plane. Default: see controlplane.Config.
	ControlPlane string
	// Orrery is the program under test. Default: bin/orrery, in the working directory or above.
	Orrery string
	// Zombie adds the run with a watch whose connection goes dead without a word; see [Run]. It takes up to a minute and
	// goes on beside the rest.
	Zombie bool
	// Keep has the directory stay after a success.
	Keep bool
}

// DefaultDuration is that of the zero Config.
const DefaultDuration = 2 * time.Minute

func (c Config) withDefaults() Config {
	if c.Duration <= 0 {
		c.Duration = DefaultDuration
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	return c
}

// clock is how times of the day are written.
const clock = "15:04:05.000"

// requestTimeout bounds a request of the run itself.
const requestTimeout = 10 * time.Second

// patience is how long the run waits at a quiet point. Only a failure reaches it: the controller repeats a pass that
// failed again and again after a minute at most, and that much may be ahead when the faults end.
const patience = 150 * time.Second
