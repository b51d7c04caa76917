package main

import (
	"fmt"

	"orrery/internal/observe/logs"
	"orrery/internal/observe/trace"
	"orrery/internal/program"
)

// startRecorder starts to record what the gears do, for the flags --record and --trace; nil without
// them. stop must be called.
func startRecorder(options *runOptions, logger *logs.Logger) (recorder *trace.Recorder, stop func(), err error) {
	if !options.record.Wanted() {
		return nil, func() {}, nil
	}
	recorder, err = trace.Start(options.record.Config(trace.Header{
		Run: "orrery run", Mode: "cluster", Gears: options.gears.String(), Build: program.Version,
		Workers: options.each.Namespace.Workers,
	}))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot record: %w", err)
	}
	return recorder, func() {
		recorder.Stop("the process has stopped")
		if err := recorder.Err(); err != nil {
			logger.Warn().Err(err).Msg("the recording is incomplete")
		}
	}, nil
}
