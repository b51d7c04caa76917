package fork

import (
	"context"
	"sync"

	observed "orrery/internal/observe/view"
	"orrery/internal/observe/view/places"
)

// Forks starts the forks of a recording that a page shows: one at a time, each with a page of its
// own.
type Forks struct {
	ctx  context.Context
	code places.Source
	read func() (*Recording, error)

	mu   sync.Mutex
	live *Live // guarded by mu; nil: none
}

var _ observed.Forks = (*Forks)(nil)

// NewForks returns the forks of a recording. read is called whenever it is needed. The forks end
// with ctx; the caller must call Stop. code is where their pages find the functions of the gears.
func NewForks(ctx context.Context, read func() (*Recording, error), code places.Source) *Forks {
	return &Forks{ctx: ctx, code: code, read: read}
}

// Inputs returns the Recording.
func (f *Forks) Inputs() (any, error) { return f.read() }

// Fork ends the previous fork, starts a new one and returns the address of its page. If the fork is
// refused, the previous one goes on.
func (f *Forks) Fork(at, without int) (address string, err error) {
	recording, err := f.read()
	if err != nil {
		return "", err
	}
	if err := recording.Check(at, without); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopLocked()
	serve := func(config observed.Config) (*observed.Server, error) {
		config.Code = f.code
		return observed.Start(config)
	}
	live, err := recording.Live(f.ctx, at, without, serve, func(Input, Result) {})
	if err != nil {
		return "", err
	}
	f.live = live
	return live.URL(), nil
}

// Stop ends the fork, if there is one.
func (f *Forks) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopLocked()
}

func (f *Forks) stopLocked() {
	if f.live != nil {
		f.live.Stop()
		f.live = nil
	}
}
