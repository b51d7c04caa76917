package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
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

// Run lets one controller work until stop ends; then it finishes what it has in hand. When alive ends it returns at once, and
// sends nothing more.
type Run func(stop, alive context.Context)

// Initializer sets up one controller. It returns the function that runs it, or
// [ErrResourceMissing] if the server does not have what the controller is about. It must not start anything
// itself: informers are started when every controller has registered its handlers.
type Initializer func(ctx context.Context, shared Context) (Run, error)

// ErrResourceMissing says that the server does not have the resource that a controller is about.
var ErrResourceMissing = errors.New("the API server does not have this resource")

// Prepared is a set of controllers that stand by: their informers run and keep their stores up to date, their handlers
// note what they hear, and nobody works.
type Prepared struct {
	// Ready and Skipped are the names of those that stand by and of those whose resource is missing, sorted.
	Ready   []string
	Skipped []string

	runs []Run
}

// Prepare sets up the selected controllers and starts the informers that they asked for, which end with the context. It should
// end later than the controllers: one that finishes what it has in hand still reads the stores.
func Prepare(ctx context.Context, initializers map[string]Initializer, selection Selection, shared Context) (*Prepared, error) {
	prepared := &Prepared{}
	for _, name := range slices.Sorted(maps.Keys(initializers)) {
		if !selection.Selects(name) {
			continue
		}
		run, err := initializers[name](ctx, shared)
		if errors.Is(err, ErrResourceMissing) {
			prepared.Skipped = append(prepared.Skipped, name)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("starting %s: %w", name, err)
		}
		prepared.Ready = append(prepared.Ready, name)
		prepared.runs = append(prepared.runs, run)
	}
	if err := shared.Informers.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting the informers: %w", err)
	}
	return prepared, nil
}

// Work lets the controllers work and returns when all of them have ended, see [Run]. It is to be called once, also for
// controllers that never got to work, with contexts that have ended: that is how they give back what they have.
func (p *Prepared) Work(stop, alive context.Context) {
	var working wait.Group
	for _, run := range p.runs {
		working.Start(func() { run(stop, alive) })
	}
	working.Wait()
}
