package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
)

var _ view.Control = (*Session)(nil)

// Guide is what a guided scene asks its reader. Its sentences are those of the page, by the scene's
// name.
type Guide struct {
	// Choices are the possible answers, in the order of the page. They are identifiers and numbers,
	// the same in every language.
	Choices []string
	// Answer is the one of Choices that sound gears give.
	Answer string
}

// The keys that the questions are about, in the namespace of the demo.
const (
	SlowKey = "shop/red" // slow-consumer: changes while the consumer waits
	HotKey  = "shop/red" // one-key: changes a hundred times
	FailKey = "shop/web" // back-off: its first passes fail
)

// guides are the guided scenes.
var guides = map[string]Guide{
	"delete": {
		[]string{"configmaps · pods", "crontabs · configmaps", "pods · configmaps", "pods · crontabs"}, "pods · crontabs",
	},
	"slow-consumer": {[]string{"7 · 7 · 7", "6 · 1 · 6", "1 · 1 · 1", "6 · 6 · 6"}, "6 · 1 · 6"},
	"store-decides": {[]string{"OnUpdate · OnUpdate", "OnAdd · OnAdd", "OnUpdate · OnAdd"}, "OnUpdate · OnAdd"},
	"expired-watch": {[]string{"D", "†", "–"}, "†"},
	"slow-handler":  {[]string{"spectator", "slow handler", "spectator, slow handler"}, "slow handler"},
	"one-key":       {[]string{"0", "1", "100"}, "1"},
	"back-off":      {[]string{"200ms", "800ms", "1.6s", "4s"}, "1.6s"},
	"broken-apiservice": {
		[]string{"ContentRemaining", "FinalizersRemaining", "DeletionDiscoveryFailure"}, "DeletionDiscoveryFailure",
	},
	"finalizer": {
		[]string{"DeletionContentFailure", "ContentRemaining, FinalizersRemaining", "DeletionDiscoveryFailure"},
		"ContentRemaining, FinalizersRemaining",
	},
}

// GuideOf returns the guide of a scene; ok is false for a scene that asks nothing.
func GuideOf(scene string) (g Guide, ok bool) {
	g, ok = guides[scene]
	return g, ok
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
}

// NewSession returns the session of a recorded scene; nil if the scene asks nothing.
func NewSession(scene string, recorder *trace.Recorder, gates *Gates) *Session {
	guide, ok := GuideOf(scene)
	if !ok {
		return nil
	}
	return &Session{Gates: gates, scene: scene, guide: guide, recorder: recorder, answered: make(chan struct{})}
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

// Do carries out a command of a page: an answer, or one for the gates. Until the
// answer the gates are the scene's, because its question is about what they hold.
func (s *Session) Do(c view.Command) error {
	if c.Do == "answer" {
		s.Answer(c.Choice)
		return nil
	}
	if !s.over() {
		return errors.New("the gates are the scene's until its question is answered")
	}
	return s.Gates.Do(c)
}

// Release is called when no page is there any more.
func (s *Session) Release() {
	if s.over() {
		s.Gates.Release()
	}
}

// over reports whether the question is answered.
func (s *Session) over() bool {
	select {
	case <-s.answered:
		return true
	default:
		return false
	}
}

// Reveal records the answer.
func (s *Session) Reveal() {
	if s != nil {
		s.recorder.Answer(s.scene, s.guide.Answer)
	}
}

var _ view.Control = (*Gates)(nil)

// Do carries out a command of a page.
func (g *Gates) Do(c view.Command) error {
	where, err := ParseCondition(c.Where)
	if err != nil {
		return err
	}
	id := ID(c.Gate)
	needsGate := c.Do == "close" || c.Do == "open" || c.Do == "step" && id != ""
	if needsGate && !slices.Contains(IDs(), id) {
		return fmt.Errorf("there is no gate %q", c.Gate)
	}
	switch c.Do {
	case "close":
		g.Close(id, where)
	case "open":
		g.Open(id)
	case "step":
		if id == "" {
			id = g.oldest()
		}
		if id != "" {
			g.Step(id)
		}
	case "run":
		if where.String() == "" {
			return fmt.Errorf("a condition is missing, such as key==demo")
		}
		g.RunTo(where)
	case "release":
		g.Release()
	default:
		return fmt.Errorf("there is no command %q", c.Do)
	}
	return nil
}

// oldest returns the gate of the item that has waited longest; "" if none waits.
func (g *Gates) oldest() (id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := uint64(0)
	for name, gate := range g.gates {
		if len(gate.waiting) > 0 && (id == "" || gate.waiting[0].number < first) {
			id, first = name, gate.waiting[0].number
		}
	}
	return id
}

// State returns what the page shows of the gates, and a channel that is closed when it changes.
func (g *Gates) State() (state view.ControlState, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range IDs() {
		gate := g.gates[id]
		state.Gates = append(state.Gates, view.GateState{
			Name: string(id), Wired: gate.wired, Closed: gate.closed, Where: gate.only.String(), Waiting: len(gate.waiting),
		})
	}
	if g.runTo != nil {
		state.RunTo = g.runTo.String()
	}
	return state, g.changed
}
