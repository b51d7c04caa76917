package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orrery/internal/observe/web/view"
)

// Question is what a guided scene asks its reader. Its sentences are those of the page, by the
// scene's name.
type Question struct {
	Scene string
	// Choices are the possible answers, in the order of the page; none: the scene asks nothing. They
	// are identifiers and numbers, the same in every language.
	Choices []string
	// Answer is the one of Choices that sound gears give.
	Answer string
}

// Guide leads a reader through a scene that asks a question; others have no guide. It must be
// called before the scene begins.
func (g *Gates) Guide(question Question) {
	if len(question.Choices) > 0 {
		g.question, g.chosen = question, make(chan struct{})
		g.open.Store(true)
	}
}

// Guided reports whether there is a reader to lead. Without one, Chapter, Ask and Reveal do
// nothing.
func (g *Gates) Guided() bool { return g != nil && g.chosen != nil }

// Chapter begins a chapter of the scene's story.
func (g *Gates) Chapter(name string) {
	if g.Guided() {
		g.recorder.Chapter(name)
	}
}

// Ask asks the scene's question and blocks until the reader has chosen an answer. The error is the
// cause of ctx.
func (g *Gates) Ask(ctx context.Context) error {
	if !g.Guided() {
		return nil
	}
	g.recorder.Question(g.question.Scene, g.question.Choices)
	select {
	case <-g.chosen:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Reveal records the answer.
func (g *Gates) Reveal() {
	if g.Guided() {
		g.recorder.Answer(g.question.Scene, g.question.Answer)
	}
}

var _ view.Control = (*Gates)(nil)

// Do carries out a command of a page. Until the answer the gates are the scene's, because its
// question is about what they hold.
func (g *Gates) Do(c view.Command) error {
	if c.Do == "answer" {
		if g.open.CompareAndSwap(true, false) { // the first answer counts
			g.recorder.Input("answer", c.Choice)
			close(g.chosen)
		}
		return nil
	}
	if g.open.Load() {
		return errors.New("the gates are the scene's until its question is answered")
	}
	id := ID(c.Gate)
	if (c.Do == "close" || c.Do == "open") && !slices.Contains(IDs(), id) {
		return fmt.Errorf("there is no gate %q", c.Gate)
	}
	switch c.Do {
	case "close":
		g.Close(id, Filter{Resource: c.Resource})
	case "open":
		g.Open(id)
	case "step":
		g.Step("")
	case "release":
		g.Release()
	default:
		return fmt.Errorf("there is no command %q", c.Do)
	}
	return nil
}

// State returns what the page shows of the gates, and a channel that is closed when it changes.
func (g *Gates) State() (state view.ControlState, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range IDs() {
		gate := g.gates[id]
		shown := view.GateState{Name: string(id), Wired: gate.wired, Closed: gate.closed, Where: gate.only.String()}
		for _, w := range g.waiting {
			if w.item.Gate == id {
				shown.Waiting++
			}
		}
		state.Gates = append(state.Gates, shown)
	}
	return state, g.changed
}
