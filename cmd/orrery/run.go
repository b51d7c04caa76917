package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"orrery/internal/controllers"
	"orrery/internal/leaderelection"
	"orrery/internal/observe/logs"
)

// run is "orrery run": it connects, starts the selected controllers and waits for a signal.
func run(ctx context.Context, options *runOptions, stderr io.Writer) error {
	selection, err := controllers.ParseSelection(options.controllers,
		[]string{namespaceControllerName}, map[string]string{namespaceControllerAlias: namespaceControllerName})
	if err != nil {
		return usageError{command: "orrery run", err: fmt.Errorf("--controllers: %w", err)}
	}
	if !selection.Selects(namespaceControllerName) {
		return errNothingToRun
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	outlivePipes()
	logger := logs.Start(logs.Config{
		Writer:    &lostReader{Writer: stderr, lost: stop},
		Format:    logs.Format(options.logFormat),
		Verbosity: options.verbosity,
		Color:     wantsColor(stderr),
	})
	defer logger.Stop()
	defer survivePanics(logger)()
	ctx, release := untilSignal(ctx, func() {
		logger.Warn().Msg("stopped at once by a second signal, what was in hand is left as it is")
		os.Exit(exitInterrupted)
	})
	defer release()

	observer, err := startObserver(options.observer, logger)
	if err != nil {
		return err
	}
	defer observer.stop()
	defer context.AfterFunc(ctx, observer.stopping)()
	var fence leaderelection.Fence
	client, err := connect(options, logger, observer, &fence)
	if err != nil {
		return err
	}
	defer client.Close()
	available, err := greet(ctx, client, logger)
	if err == nil {
		err = refuseToStart(ctx, client, options, logger)
	}
	if ctx.Err() != nil {
		release()
		logger.Info().Msg("stopped before it began")
		return nil
	}
	if err != nil {
		return err
	}

	recording := startRecording(client, options, logger)
	defer recording.stop()
	observer.watchEvents(recording)
	resting := newRest(restAfter, restAgain, giveBackMemory)
	defer resting.stop()
	initializers := map[string]controllers.Initializer{
		namespaceControllerName: startNamespaceController(options, logger, observer, recording, resting.worked),
	}
	p := &process{
		options: options, logger: logger, observer: observer, recording: recording, fence: &fence,
		shared: controllers.Context{Client: client, Available: available},
		lastResort: lastResort{exit: func(why error) {
			logger.Error().Dur("after_s", lastMoment).Msg("something does not let go, the process is ended as it is")
			logger.Stop()
			lastWord(stderr, lastSentence(why))
			os.Exit(1)
		}},
	}
	if err := p.run(ctx, initializers, selection); err != nil {
		return err
	}
	release() // a second Ctrl-C has nothing left to cut short
	logger.Info().Msg("stopped")
	return nil
}

// exitInterrupted is the exit code when a Ctrl-C has ended something before its end: 128 and the number of the signal, as shells have it.
const exitInterrupted = 130
