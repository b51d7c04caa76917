package view

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
)

var _ view.Control = (*Session)(nil)

// Guide is what a guided scene asks its reader. Its sentences are those of the page, by the scene's
// name.
type Guide struct {
	// Choices are the possible answers, in the order of the page. They are identifiers and numbers,
	// the same in every language.
	Choices []string
	// Answer computes the answer from a recording. Choices has what sound gears do.
	Answer func(r *Recording) string
}

// The keys that the questions are about, in the namespace of the demo.
const (
	SlowKey  = "shop/red"  // slow-consumer: changes while the consumer waits
	KnownKey = "shop/pear" // store-decides: in the store before the second list
	NewKey   = "shop/kiwi" // store-decides: not in the store
	HeldKey  = "shop/red"  // resync: waits at G2
	HotKey   = "shop/red"  // one-key: changes a hundred times
	FailKey  = "shop/web"  // back-off: its first passes fail
)

// guides are the guided scenes.
var guides = map[string]Guide{
	"slow-consumer": {[]string{"7 · 7 · 7", "6 · 1 · 6", "1 · 1 · 1", "6 · 6 · 6"}, slowConsumer},
	"store-decides": {[]string{"OnUpdate · OnUpdate", "OnAdd · OnAdd", "OnUpdate · OnAdd"}, storeDecides},
	"resync":        {[]string{"LIST · –", "LIST · " + HeldKey, "– · –", "– · " + HeldKey}, resync},
	"expired-watch": {[]string{"D", "†", "–"}, expiredWatch},
	"slow-handler":  {[]string{"spectator", "slow handler", "spectator, slow handler"}, slowHandler},
	"one-key":       {[]string{"0", "1", "100"}, oneKey},
	"back-off":      {[]string{"200ms", "800ms", "1.6s", "4s"}, backOff},
	"broken-apiservice": {
		[]string{"ContentRemaining", "FinalizersRemaining", "DeletionDiscoveryFailure"}, trueConditions,
	},
	"finalizer": {
		[]string{"DeletionContentFailure", "ContentRemaining, FinalizersRemaining", "DeletionDiscoveryFailure"}, trueConditions,
	},
}

// GuideOf returns the guide of a scene; ok is false for a scene that asks nothing.
func GuideOf(scene string) (g Guide, ok bool) {
	g, ok = guides[scene]
	return g, ok
}

// Recording is a recording so far: its events, and the state after them.
type Recording struct {
	Events []trace.Event
	State  *trace.State
}

// Record decodes the lines of a recording that are events.
func Record(lines []byte) (*Recording, error) {
	r := &Recording{State: trace.NewState()}
	for line := range bytes.Lines(lines) {
		var e trace.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		r.State.Apply(&e)
		r.Events = append(r.Events, e)
	}
	return r, nil
}

// asked returns the events since the question.
func (r *Recording) asked() []trace.Event {
	at := slices.IndexFunc(r.Events, func(e trace.Event) bool { return e.Name == "lab.question" })
	return r.Events[at+1:]
}

// count returns how many of the events have this name and key.
func count(events []trace.Event, name, key string) int {
	n := 0
	for _, e := range events {
		if e.Name == name && e.Key == key {
			n++
		}
	}
	return n
}

// slowConsumer: the deltas that waited, the pops, and the calls that followed.
func slowConsumer(r *Recording) string {
	waited := int64(0)
	for _, e := range r.asked() {
		if e.Name == "deltafifo.popped" && e.Key == SlowKey {
			waited += max(e.M, int64(len([]rune(e.Deltas))))
		}
	}
	return fmt.Sprintf("%d · %d · %d", waited, count(r.asked(), "deltafifo.popped", SlowKey), count(r.asked(), "informer.handlerCalled", SlowKey))
}

// storeDecides: the call for each key's delta of the second list.
func storeDecides(r *Recording) string {
	calls := map[string]string{}
	for _, e := range r.asked() {
		if e.Name == "informer.handlerCalled" {
			calls[e.Key] = "On" + strings.ToUpper(e.Kind[:1]) + e.Kind[1:]
		}
	}
	return cmp.Or(calls[KnownKey], "–") + " · " + cmp.Or(calls[NewKey], "–")
}

// resync: the requests from the first resync on, and the stored key that it left out.
func resync(r *Recording) string {
	due := slices.IndexFunc(r.Events, func(e trace.Event) bool { return e.Name == "informer.resyncDue" && e.N > 0 })
	if due < 0 {
		return "–"
	}
	requests, waved := "–", map[string]bool{}
	for _, e := range r.Events[due:] {
		switch {
		case e.Name == "restclient.requestStart":
			requests = strings.ToUpper(e.Verb)
		case e.Name == "deltafifo.queued" && e.Deltas == "S":
			waved[e.Key] = true
		}
	}
	left := "–"
	for key := range r.State.Informers[r.Events[due].In].Store.Objects {
		if !waved[key] {
			left = key
		}
	}
	return requests + " · " + left
}

// expiredWatch: the letters of the deletions of which the watch has had no event.
func expiredWatch(r *Recording) string {
	watched, unseen := map[string]bool{}, map[string]bool{}
	for _, e := range r.Events {
		switch {
		case e.In != "configmaps":
		case e.Name == "reflector.event" && e.Type == "DELETED":
			watched[e.Key] = true
		case e.Name == "deltafifo.queued" && (e.Deltas == "D" || e.Deltas == "†") && !watched[e.Key]:
			unseen[e.Deltas] = true
		}
	}
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(unseen)), ", "), "–")
}

// slowHandler: the handlers of the configmaps for which events wait.
func slowHandler(r *Recording) string {
	var late []string
	configmaps := r.State.Informers["configmaps"]
	if configmaps == nil {
		return "–"
	}
	for name, h := range configmaps.Handlers {
		if h.Pending > 0 {
			name, _, _ = strings.Cut(name, "#")
			late = append(late, name)
		}
	}
	slices.Sort(late)
	return cmp.Or(strings.Join(late, ", "), "–")
}

// oneKey: the passes that followed the updates.
func oneKey(r *Recording) string {
	return fmt.Sprint(count(r.asked(), "queue.got", HotKey))
}

// backOff: the delay after the fourth failure.
func backOff(r *Recording) string {
	const failure = 4
	for _, e := range r.Events {
		if e.Name == "queue.retried" && e.Key == FailKey && e.N == failure {
			return (time.Duration(e.Micros) * time.Microsecond).String()
		}
	}
	return "–"
}

// trueConditions: the conditions of the namespace that are True.
func trueConditions(r *Recording) string {
	var held []string
	for _, namespace := range r.State.Namespaces {
		for name, c := range namespace.Conditions {
			if c.Status == "True" {
				held = append(held, strings.TrimPrefix(name, "Namespace"))
			}
		}
	}
	slices.Sort(held)
	return cmp.Or(strings.Join(held, ", "), "–")
}

// Session leads a reader through one run of a guided scene, with the gates of the run. A scene
// without a reader has a nil Session, on which Chapter, Ask, Answer and Reveal do nothing. All
// methods may be called from any goroutine.
type Session struct {
	*Gates
	scene    string
	guide    Guide
	recorder *trace.Recorder
	answered chan struct{}
	once     sync.Once

	mu    sync.Mutex  // for commands of the page; it is locked before Gates.mu
	pages map[ID]bool // gates that the page has closed
}

// NewSession returns the session of a recorded scene; nil if the scene asks nothing.
func NewSession(scene string, recorder *trace.Recorder, gates *Gates) *Session {
	guide, ok := GuideOf(scene)
	if !ok {
		return nil
	}
	return &Session{Gates: gates, scene: scene, guide: guide, recorder: recorder, answered: make(chan struct{}), pages: map[ID]bool{}}
}

// Chapter begins a chapter of the scene's story.
func (s *Session) Chapter(name string) {
	if s != nil {
		s.recorder.Chapter(name)
	}
}

// Ask asks the scene's question and blocks until the reader has chosen an answer. The error is the
// cause of ctx.
func (s *Session) Ask(ctx context.Context) error {
	if s == nil {
		return nil
	}
	s.recorder.Question(s.scene, s.guide.Choices)
	select {
	case <-s.answered:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Answer records the reader's choice; Ask returns. Only the first call has an effect.
func (s *Session) Answer(choice string) {
	if s != nil {
		s.once.Do(func() {
			s.recorder.Input("answer", choice)
			close(s.answered)
		})
	}
}

// Do carries out a command of the page in control: an answer, or one for the gates. Gates that the
// scene itself has closed stay closed until the answer, because the question is about what they
// hold.
func (s *Session) Do(c view.Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, id := s.held(), ID(c.Gate)
	switch {
	case c.Do == "answer":
		s.Answer(c.Choice)
		return nil
	case c.Do == "release" && (len(held) == 0 || len(s.pages) > 0):
		s.releaseLocked()
		return nil
	case c.Do == "step" && id == "":
		id = s.oldest()
	}
	if len(held) > 0 && (c.Do == "release" || c.Do == "run" || slices.Contains(held, id)) {
		return fmt.Errorf("the scene holds %s until its question is answered", held[0])
	}
	if err := s.Gates.Do(c); err != nil {
		return err
	}
	switch c.Do {
	case "close":
		s.pages[id] = true
	case "open":
		delete(s.pages, id)
	}
	return nil
}

// held returns the gates that the scene itself has closed and that must stay so, because its
// question has no answer yet.
func (s *Session) held() (gates []ID) {
	select {
	case <-s.answered:
		return nil
	default:
	}
	state, _ := s.State()
	for _, gate := range state.Gates {
		if id := ID(gate.Name); gate.Closed && !s.pages[id] && !s.ofRun(id) {
			gates = append(gates, id)
		}
	}
	return gates
}

// Release is called when no page is in control any more. It opens the gates as the command of that
// name does.
func (s *Session) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseLocked()
}

// releaseLocked opens all gates, or only those that the page has closed while the scene holds
// others.
func (s *Session) releaseLocked() {
	if len(s.held()) == 0 {
		s.Gates.Release()
	} else {
		for id := range s.pages {
			s.Open(id)
		}
	}
	clear(s.pages)
}

// Reveal computes the answer from the recording so far and records it. The error is that of ctx, or
// of a line that cannot be read.
func (s *Session) Reveal(ctx context.Context) error {
	if s == nil {
		return nil
	}
	r, err := s.recorded(ctx)
	if err == nil {
		s.recorder.Answer(s.scene, s.guide.Answer(r))
	}
	return err
}

// Recorded returns the state of the run.
func (s *Session) Recorded() *trace.State { return s.recorder.State() }

// reveal is the input that ends the part of the recording that an answer is computed from.
const reveal = "reveal"

// recorded reads the recording so far. The recorder may hold the last events back for a moment, so
// it records an input and reads up to that.
func (s *Session) recorded(ctx context.Context) (*Recording, error) {
	const all = 1 << 62
	s.recorder.Input(reveal, s.scene)
	var lines []byte
	for cursor := s.recorder.History().Cursor(all); ; {
		batch, err := cursor.Next(ctx)
		if err != nil {
			return nil, err
		}
		lines = append(lines, batch.Lines...)
		if bytes.Contains(batch.Lines, []byte(`"name":"`+reveal+`"`)) {
			return Record(lines)
		}
	}
}
