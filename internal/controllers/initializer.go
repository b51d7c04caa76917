package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Context is what the controllers of one process share.
type Context struct {
	// Client speaks to the API server.
	Client *restclient.Client
	// Informers makes sure that there is one informer for each type, whoever asks for it.
	Informers *informer.SharedInformerFactory
	// Available are the resources that the server has.
	Available map[api.GroupVersionResource]bool
}

// Initializer sets up one controller. It returns the function that runs it until its context ends, or
// [ErrResourceMissing] if the server does not have what the controller is about. It must not start anything
// itself: informers are started when every controller has registered its handlers.
type Initializer func(ctx context.Context, shared Context) (run func(context.Context), err error)

// ErrResourceMissing says that the server does not have the resource that a controller is about.
var ErrResourceMissing = errors.New("the API server does not have this resource")

// Running is a set of started controllers.
type Running struct {
	// Started and Skipped are the names of those that run and of those whose resource is missing, sorted.
	Started []string
	Skipped []string

	goroutines sync.WaitGroup
}

// Start sets up the selected controllers, starts the informers that they asked for, and then the controllers.
//
// Controllers end with ctx. The informers end with informersCtx, which should end later: a controller that
// finishes what it has in hand still reads the stores.
func Start(ctx, informersCtx context.Context, initializers map[string]Initializer, selection Selection, shared Context) (*Running, error) {
	running := &Running{}
	var runs []func(context.Context)
	for _, name := range slices.Sorted(maps.Keys(initializers)) {
		if !selection.Selects(name) {
			continue
		}
		run, err := initializers[name](ctx, shared)
		if errors.Is(err, ErrResourceMissing) {
			running.Skipped = append(running.Skipped, name)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("starting %s: %w", name, err)
		}
		running.Started = append(running.Started, name)
		runs = append(runs, run)
	}
	if err := shared.Informers.Start(informersCtx); err != nil {
		return nil, fmt.Errorf("starting the informers: %w", err)
	}
	for _, run := range runs {
		running.goroutines.Go(func() { run(ctx) })
	}
	return running, nil
}

// Wait returns when all controllers have ended.
func (r *Running) Wait() { r.goroutines.Wait() }
