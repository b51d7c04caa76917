// Package scenes has the scenes of the demo.
//
// A [Scene] is a script: the requests and faults, what the reader should watch, and what was
// learnt. It does not say what the controller does; the controller's hooks do that. A script waits
// for conditions ([stage.Stage.Await]), never for a fixed time. Such a scene ends when the
// namespace has gone, or with the error of the first request that fails. It starts no goroutine.
//
// A scene on single gears plays alone, without a server, or on a bare stage ([stage.Options]),
// whose informer ends with the stage. It ends the goroutines that it starts itself before it
// returns, and fails if the figures that it has measured are not what it is there to show.
//
// The tests play every scene against the API server in memory in a synctest bubble and assert the
// order of the beats.
package scenes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// Scene is a script.
type Scene struct {
	Name string
	// Summary is a few words for lists.
	Summary string
	// Happens says what is going to happen and Look what to watch, a sentence or two each.
	Happens, Look string
	// Options are what the stage needs for it.
	Options stage.Options
	// Lesson is printed at the end. It has files for every set of gears; see LessonOf.
	Lesson display.Lesson

	// workers is the number of workers of a scene without a controller; 0: its queue has none.
	workers int

	// One of the two: play needs a stage with a server; alone plays on single gears of the set.
	play  func(context.Context, *stage.Stage) error
	alone func(context.Context, *story.Teller, gears.Set) error
}

// Story returns the empty story of the scene.
func (s Scene) Story() *story.Teller {
	teller := story.New(s.Name, s.Happens, s.Look)
	teller.Update(func(state *story.State) {
		state.Alone = s.Alone() || s.Options.Bare
		state.Gears.Workers = s.workers
	})
	return teller
}

// Alone reports whether the scene needs no server. Then PlayAlone plays it, otherwise Play.
func (s Scene) Alone() bool { return s.alone != nil }

// Workers returns how many workers the scene's work queue has; 0 if there is none.
func (s Scene) Workers() int {
	if s.Alone() || s.Options.Bare {
		return s.workers
	}
	return stage.Workers
}

// PlayAlone plays a scene that needs no server. It fails if the figures are not what the scene
// shows.
func (s Scene) PlayAlone(ctx context.Context, teller *story.Teller, set gears.Set) error {
	if err := s.alone(ctx, teller, set); err != nil {
		return inWordsOfAScene(err)
	}
	teller.Update(func(state *story.State) { state.End("the end") })
	return wait.Sleep(ctx, curtain)
}

// inWordsOfAScene returns the error of a scene. Figures that are not those of the scene come from a
// gear that does something else: "lab run --scene" plays scenes with a learner's page.
func inWordsOfAScene(err error) error {
	wrong, ok := errors.AsType[*bench.ProofError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("the scene did not show what it should: %s: got %v, want %v", wrong.What, wrong.Got, wrong.Want)
}

// Play plays a scene on a stage. Unless the stage is bare, it returns when the namespace has gone.
func (s Scene) Play(ctx context.Context, on *stage.Stage) error {
	if err := s.play(ctx, on); err != nil {
		return inWordsOfAScene(err)
	}
	end := "the end: the namespace and everything in it are gone"
	if s.Options.Bare {
		end = "the end"
	}
	on.Teller().Update(func(state *story.State) { state.End(end) })
	return wait.Sleep(ctx, curtain)
}

// LessonOf returns the lesson for a run with these gears: it names only pages of their forms.
func (s Scene) LessonOf(set gears.Set) display.Lesson {
	lesson := display.Lesson{Learnt: s.Lesson.Learnt}
	for _, reading := range s.Lesson.Read {
		if reading.Gear == "" || set.Form(reading.Gear) == reading.Form {
			lesson.Read = append(lesson.Read, reading)
		}
	}
	if set.String() != gears.Textbook {
		lesson.Read = append(lesson.Read, display.Reading{File: "docs/learn/gears.md", Why: "the textbook form of each gear, one page each: --gears textbook"})
	}
	return lesson
}

// The pauses of a script, so that the reader can look at a new state.
const (
	look    = time.Second
	curtain = 1500 * time.Millisecond
)

// All returns the scenes in the recommended order.
func All() []Scene {
	return []Scene{deletion, finalizer, brokenAPIService, expiredWatch, slowHandler, emptiedFinalizers, stuck, virtualMachine,
		errorsScene, twoWaysOf410, index, slowConsumer, storeDecides, resync, oneKey, backOff, workersInPool, twoQueues, stalled}
}

// Default is the name of the scene to see first.
const Default = "delete"

// Names returns the names of the scenes.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// UnknownError reports a name that no scene has, and lists the names.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no scene %q; the scenes are %s", e.Name, strings.Join(Names(), ", "))
}

// Named returns a scene; the error is an *UnknownError.
func Named(name string) (Scene, error) {
	all := All()
	at := slices.IndexFunc(all, func(s Scene) bool { return s.Name == name })
	if at < 0 {
		return Scene{}, &UnknownError{name}
	}
	return all[at], nil
}

// slowMotion delays each deletecollection request of the controller, and announces it.
func slowMotion(on *stage.Stage) (end func(), err error) {
	on.Tell(story.Demo, "slow motion: the server delays each deletecollection so that you can follow; everything else runs at full speed")
	id, err := on.Fault("delay:by=150ms,verb=deletecollection")
	return func() { on.Repair(id) }, err
}

// reported reports whether the namespace has the condition.
func reported(condition string) func(*story.State) bool {
	return func(s *story.State) bool {
		return slices.ContainsFunc(s.Namespace.Conditions, func(c story.Condition) bool { return c.Type == condition })
	}
}

// reportedOrGone is like [reported] but also holds when the namespace has gone: the user may have
// deleted the content.
func reportedOrGone(condition string) func(*story.State) bool {
	return func(s *story.State) bool { return reported(condition)(s) || s.Namespace.Phase == story.Gone }
}

// toFinalizers fills the namespace, calls filled, deletes the namespace, and returns when only
// objects with a finalizer are left.
func toFinalizers(ctx context.Context, on *stage.Stage, filled ...func() error) error {
	end, err := slowMotion(on)
	if err != nil {
		return err
	}
	defer end()
	return inOrder(
		func() error { return on.Fill(ctx) },
		func() error { return inOrder(filled...) },
		func() error { return wait.Sleep(ctx, look) },
		func() error { return on.DeleteNamespace(ctx) },
		func() error { return on.Await(ctx, on.Emptied) },
	)
}

// enter begins a stage of a scene without a server, and tells it.
func enter(teller *story.Teller, stage, now string) {
	teller.Update(func(s *story.State) {
		s.Enter(stage, now, 0)
		s.Tell(story.Demo, "%s", now)
	})
}

type withoutLimits struct{}

// WithoutLimits returns a context in which a scene waits for its gears as long as it takes: a user
// holds them.
func WithoutLimits(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutLimits{}, true)
}

// soon waits for a condition in a scene on single gears. It fails after a time in which sound gears
// reach it.
func soon(ctx context.Context, teller *story.Teller, what string, holds func(*story.State) bool) error {
	if ctx.Value(withoutLimits{}) != nil {
		return teller.Await(ctx, holds)
	}
	const limit = 20 * time.Second
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s: did not happen within %v", what, limit))
	defer cancel()
	if teller.Await(limited, holds) != nil {
		return context.Cause(limited)
	}
	return nil
}

// inOrder runs the steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
