package driver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Memory is a driver without servers, for tests and demonstrations: it remembers the requests. The
// usage of a server changes a little with each call. The zero value is ready.
type Memory struct {
	// Capacity is the largest memory that a server may have, in bytes. 0 means no limit.
	Capacity int64

	file string // "": the servers end with the program

	mu    sync.Mutex // guards the fields below
	state state
	looks int
}

// state is what the file has.
type state struct {
	Created int // servers, so that no two have one ID
	Servers map[string]*remembered
}

type remembered struct {
	ID      string
	Request CreateRequest
	Ended   string // why
}

// NewMemory returns a driver that keeps its servers in the file servers.json in dir. They outlive
// the program, as real ones do. If dir is "", they end with it.
func NewMemory(dir string) (*Memory, error) {
	if dir == "" {
		return &Memory{}, nil
	}
	d := &Memory{file: filepath.Join(dir, "servers.json")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return d, d.load()
}

// load reads the file, which another replica may have written. It must be called with mu held.
func (d *Memory) load() error {
	if d.file == "" {
		return nil
	}
	d.state = state{}
	text, err := os.ReadFile(d.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &d.state)
}

// save writes the file. It must be called with mu held.
func (d *Memory) save() error {
	if d.file == "" {
		return nil
	}
	text, err := json.Marshal(d.state)
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.file+".next", text, 0o600); err != nil {
		return err
	}
	return os.Rename(d.file+".next", d.file)
}

// CreateServer implements [Interface].
func (d *Memory) CreateServer(ctx context.Context, request CreateRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := cmp.Or(context.Cause(ctx), d.load()); err != nil {
		return err
	}
	if d.Capacity > 0 && request.Memory > d.Capacity {
		return &RefusedError{Why: fmt.Sprintf("%d bytes of memory were asked for, and there are %d", request.Memory,
			d.Capacity)}
	}
	if s := d.state.Servers[request.Name]; s != nil && s.Ended == "" {
		return nil
	}
	if d.state.Servers == nil {
		d.state.Servers = map[string]*remembered{}
	}
	d.state.Created++
	d.state.Servers[request.Name] = &remembered{ID: fmt.Sprintf("memory-%d", d.state.Created), Request: request}
	return d.save()
}

// DeleteServer implements [Interface].
func (d *Memory) DeleteServer(ctx context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := cmp.Or(context.Cause(ctx), d.load()); err != nil {
		return err
	}
	delete(d.state.Servers, name)
	return d.save()
}

// IsServerExist implements [Interface].
func (d *Memory) IsServerExist(ctx context.Context, name string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := cmp.Or(context.Cause(ctx), d.load())
	s := d.state.Servers[name]
	return s != nil && s.Ended == "", err
}

// GetServerStatus implements [Interface].
func (d *Memory) GetServerStatus(ctx context.Context, name string) (Status, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := cmp.Or(context.Cause(ctx), d.load())
	s := d.state.Servers[name]
	switch {
	case err != nil:
		return Status{}, err
	case s == nil:
		return notFound, nil
	case s.Ended != "":
		return Status{ID: s.ID, State: Ended, Reason: s.Ended}, nil
	}
	d.looks++
	return Status{ID: s.ID, State: Running, MemoryPercentage: 0.1 + 0.01*float64(d.looks%4)}, nil
}

// End makes a server end by itself, for a reason. It is for a driver without a file.
func (d *Memory) End(name, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.state.Servers[name]; s != nil {
		s.Ended = reason
	}
}

// Servers returns what each server was created with, by name.
func (d *Memory) Servers() map[string]CreateRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	requests := map[string]CreateRequest{}
	for name, s := range d.state.Servers {
		requests[name] = s.Request
	}
	return requests
}

// Names returns the names of all servers, sorted.
func (d *Memory) Names() []string { return slices.Sorted(maps.Keys(d.Servers())) }
