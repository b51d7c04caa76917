package main

import (
	"fmt"
	"io"

	"orrery/internal/observe/logs"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/internal/program"
)

// startRecorder starts to record what the gears do, for the flags --record, --trace and --view; nil
// without them. stop must be called.
func startRecorder(options *runOptions, logger *logs.Logger, stdout io.Writer) (recorder *trace.Recorder, stop func(), err error) {
	if !options.view && !options.record.Wanted() {
		return nil, func() {}, nil
	}
	recorder, err = trace.Start(options.record.Config(trace.Header{
		Run: "orrery run", Mode: "cluster", Gears: options.gears.String(), Build: program.Version,
		Workers: options.each.Namespace.Workers,
	}))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot record: %w", err)
	}
	closeView := func() {}
	if options.view {
		page, err := options.page.Start(view.Config{Source: recorder}, stdout)
		if err != nil {
			recorder.Stop(err.Error())
			return nil, nil, err
		}
		closeView = page.Stop
	}
	return recorder, func() {
		recorder.Stop("the process has stopped")
		closeView()
		if err := recorder.Err(); err != nil {
			logger.Warn().Err(err).Msg("the recording is incomplete")
		}
	}, nil
}
