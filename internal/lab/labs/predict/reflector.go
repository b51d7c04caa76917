package predict

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// newReflector is the interpreter for informer/reflector/reflector.go. The commands tell what
// happens at a server. They are played by the server when the reflector waits for the next event,
// so nothing depends on time. The first report plays them all.
func newReflector(ctx context.Context) commands {
	s := &server{objects: map[string]*object{}, version: 1}
	play := sync.OnceFunc(func() { s.play(ctx) })
	report := func(of *[]string) func(...string) (string, error) {
		return func(...string) (string, error) {
			play()
			return list(*of, " "), ctx.Err()
		}
	}
	table := commands{
		// the objects at the beginning
		"objects NAMES...": func(args ...string) (string, error) {
			for _, name := range args {
				s.change(api.WatchAdded, name)
			}
			return "", nil
		},
		// the requests, and the calls of the store
		"requests": report(&s.requests),
		"store":    report(&s.calls),
		"lists": func(...string) (string, error) {
			play()
			return strconv.Itoa(strings.Count(strings.Join(s.requests, " "), "LIST")), ctx.Err()
		},
	}
	for usage, act := range map[string]func(args []string){
		"add NAME":    func(args []string) { s.change(api.WatchAdded, args[0]) },
		"update NAME": func(args []string) { s.change(api.WatchModified, args[0]) },
		"delete NAME": func(args []string) { s.change(api.WatchDeleted, args[0]) },
		// changes of other collections, which share the counter of versions
		"others-change TIMES": func(args []string) { s.advance(args[0]) },
		"bookmark":            func([]string) { s.change(api.WatchBookmark, "") },
		// the server forgets what happened until now
		"forget-history": func([]string) { s.forgotten = s.version },
		// the watch breaks; the commands until reconnect happen while none is open
		"break":     func([]string) {},
		"reconnect": func([]string) {},
	} {
		table[usage] = func(args ...string) (string, error) {
			name, _, _ := strings.Cut(usage, " ")
			s.steps = append(s.steps, step{name, func() { act(args) }})
			return "", nil
		}
	}
	return table
}

// step is something that happens at the server.
type step struct {
	name string
	act  func()
}

// server is a server with one collection, and the store of a reflector.
type server struct {
	steps []step
	end   func() // ends the reflector

	mu        sync.Mutex // guards the fields below
	objects   map[string]*object
	version   int
	forgotten int // events up to this version are gone
	history   []api.WatchEvent[*object]
	requests  []string
	calls     []string
}

// play runs a reflector until no step is left.
func (s *server) play(ctx context.Context) {
	ctx, s.end = context.WithCancel(ctx)
	defer s.end()
	reflector.New(reflector.Config[*object]{
		ListerWatcher: s, Store: recorder{s}, Backoff: reflector.BackoffConfig{Initial: time.Nanosecond, Max: time.Nanosecond},
	}).Run(ctx)
}

func (s *server) advance(times string) {
	n, _ := strconv.Atoi(times)
	s.version += n
}

// change changes an object and appends the event to the history.
func (s *server) change(kind api.WatchEventType, name string) {
	if kind != api.WatchBookmark {
		s.version++
	}
	o := &object{name: name, version: strconv.Itoa(s.version)}
	switch kind {
	case api.WatchAdded, api.WatchModified:
		s.objects[name] = o
	case api.WatchDeleted:
		delete(s.objects, name)
	}
	s.history = append(s.history, api.WatchEvent[*object]{Type: kind, Object: o, ResourceVersion: o.version})
}

// List returns the objects.
func (s *server) List(context.Context, api.ListOptions) (*api.List[*object], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, "LIST")
	page := &api.List[*object]{ListMeta: api.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, o := range s.objects {
		page.Items = append(page.Items, o)
	}
	return page, nil
}

// Watch opens a watch, or answers 410 if events after the position are forgotten.
func (s *server) Watch(_ context.Context, opts api.ListOptions) (api.Watcher[*object], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, err := strconv.Atoi(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	s.requests = append(s.requests, "WATCH@"+opts.ResourceVersion)
	if from < s.forgotten {
		return nil, api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired})
	}
	return &watch{server: s, position: from, sent: len(s.history)}, nil
}

// watch is an open watch.
type watch struct {
	server   *server
	position int
	sent     int // events of the history before it were sent, or are before the position
	began    bool
}

// Next returns the next event of the history. If there is none, it plays steps until there is.
func (w *watch) Next() (event api.WatchEvent[*object], err error) {
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.began { // events that happened while no watch was open
		w.began = true
		isNew := func(e api.WatchEvent[*object]) bool { v, _ := strconv.Atoi(e.ResourceVersion); return v > w.position }
		if i := slices.IndexFunc(s.history, isNew); i >= 0 {
			w.sent = i
		}
	}
	for {
		if w.sent < len(s.history) {
			w.sent++
			return s.history[w.sent-1], nil
		}
		if len(s.steps) == 0 {
			s.end()
			return event, io.EOF
		}
		next := s.steps[0]
		s.steps = s.steps[1:]
		if next.name != "break" {
			next.act()
			continue
		}
		for len(s.steps) > 0 && s.steps[0].name != "reconnect" {
			s.steps[0].act()
			s.steps = s.steps[1:]
		}
		s.steps = s.steps[min(1, len(s.steps)):]
		return event, fmt.Errorf("the connection broke: %w", io.ErrUnexpectedEOF)
	}
}

// Stop does nothing: Next never blocks.
func (w *watch) Stop() {}

// recorder is the store. It records each call.
type recorder struct{ *server }

func (r recorder) record(call string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return nil
}

func (r recorder) Add(o *object) error    { return r.record("Add(" + o.name + ")") }
func (r recorder) Update(o *object) error { return r.record("Update(" + o.name + ")") }
func (r recorder) Delete(o *object) error { return r.record("Delete(" + o.name + ")") }
func (r recorder) Resync() error          { return r.record("Resync") }

func (r recorder) Replace(items []*object, _ string) error {
	var names []string
	for _, o := range items {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return r.record("Replace(" + strings.Join(names, " ") + ")")
}
