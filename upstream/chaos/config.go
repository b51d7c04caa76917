package chaos

import (
	"io"
	"time"
)

// Config configures a run. Seed 0 is a seed like any other.
type Config struct {
	// Seed determines the plan.
	Seed uint64
	// Duration is the length of all rounds with their quiet points. Default: two minutes.
	Duration time.Duration
	// Dir receives the logs of all programs, and the report of a failed run. It must be empty or
	// absent. Default: a temporary directory, removed after a success.
	Dir string
	// Log receives a line for each step. Default: nowhere.
	Log io.Writer
	// ControlPlane is the control plane's program. Default: see controlplane.Config.
	ControlPlane string
	// Orrery is the tested program. Default: bin/orrery in the working directory or above.
	Orrery string
	// Zombie adds the scene with silent connections; see [Run]. It takes up to a minute, in
	// parallel with the rest.
	Zombie bool
	// Keep keeps the directory after a success.
	Keep bool
}

// DefaultDuration is the default of Config.Duration.
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

// clock is the format of times of day.
const clock = "15:04:05.000"

// requestTimeout bounds the run's own requests.
const requestTimeout = 10 * time.Second

// waitTimeout bounds a wait at a quiet point. Only a failure reaches it: a failing pass is retried
// within a minute, which may have just begun when the faults end.
const waitTimeout = 150 * time.Second
