package driver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Memory is a driver without servers, for tests and demonstrations: it remembers what was asked
// for. What a server uses changes a little each time that it is looked at. The zero value is ready.
type Memory struct {
	// Capacity is the largest memory that a server may have, in bytes. 0 is no limit.
	Capacity int64

	mu      sync.Mutex // guards what follows
	number  int
	servers map[string]*remembered
}

type remembered struct {
	id      string
	request CreateRequest
	ended   string // why
	looks   int
}

// CreateServer implements [Interface].
func (d *Memory) CreateServer(ctx context.Context, request CreateRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d.Capacity > 0 && request.Memory > d.Capacity {
		return &RefusedError{Why: fmt.Sprintf("%d bytes of memory were asked for, and there are %d", request.Memory, d.Capacity)}
	}
	if s := d.servers[request.Name]; s != nil && s.ended == "" {
		return nil
	}
	if d.servers == nil {
		d.servers = map[string]*remembered{}
	}
	d.number++
	d.servers[request.Name] = &remembered{id: fmt.Sprintf("memory-%d", d.number), request: request}
	return nil
}

// DeleteServer implements [Interface].
func (d *Memory) DeleteServer(ctx context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	delete(d.servers, name)
	return nil
}

// IsServerExist implements [Interface].
func (d *Memory) IsServerExist(ctx context.Context, name string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.servers[name]
	return s != nil && s.ended == "", context.Cause(ctx)
}

// GetServerStatus implements [Interface].
func (d *Memory) GetServerStatus(ctx context.Context, name string) (Status, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.servers[name]
	switch {
	case ctx.Err() != nil:
		return Status{}, context.Cause(ctx)
	case s == nil:
		return notFound, nil
	case s.ended != "":
		return Status{ID: s.id, State: Ended, Reason: s.ended}, nil
	}
	s.looks++
	return Status{ID: s.id, State: Running, MemoryPercentage: 0.1 + 0.01*float64(s.looks%4)}, nil
}

// End makes a server end by itself, for a reason.
func (d *Memory) End(name, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.servers[name]; s != nil {
		s.ended = reason
	}
}

// Servers returns what each server was created with, by name.
func (d *Memory) Servers() map[string]CreateRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	requests := map[string]CreateRequest{}
	for name, s := range d.servers {
		requests[name] = s.request
	}
	return requests
}

// Names returns the names of all servers, sorted.
func (d *Memory) Names() []string { return slices.Sorted(maps.Keys(d.Servers())) }
