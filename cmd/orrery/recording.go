package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orrery/internal/observe/logs"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/internal/observe/view/places"
	"orrery/internal/program"
)

// startRecorder starts to record what the gears do, for the flags --record and --view; nil
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
		page, err := options.page.Start(view.Config{Source: recorder, Code: sourceOnDisk()}, stdout)
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

// sourceOnDisk returns the sources of the repository in which the program was started. Elsewhere
// the page names the functions without their text.
func sourceOnDisk() places.Source {
	dir, err := os.Getwd()
	for err == nil {
		if text, _ := os.ReadFile(filepath.Join(dir, "go.mod")); strings.HasPrefix(string(text), "module orrery\n") {
			return places.Source{Files: os.DirFS(dir)}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return places.Source{}
}
