package scenes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// Scene is a script.
type Scene struct {
	Name string
	// Summary says in a few words what it is about, for lists.
	Summary string
	// Happens says what is going to happen, Look what to look at, a sentence or two each.
	Happens, Look string
	// Options are what the stage needs for it.
	Options stage.Options
	// Lesson is what is said in the end, with files for every set of gears; see LessonOf.
	Lesson display.Lesson

	play func(context.Context, *stage.Stage) error
}

// Play plays the scene. It returns when the namespace has gone.
func (s Scene) Play(ctx context.Context, on *stage.Stage) error {
	if err := s.play(ctx, on); err != nil {
		return err
	}
	on.Teller().Update(func(state *story.State) { state.End("the end: the namespace has gone, and all that was in it") })
	return wait.Sleep(ctx, curtain)
}

// LessonOf returns the lesson for those who have seen these gears: it names no page of another form.
func (s Scene) LessonOf(set gears.Set) display.Lesson {
	lesson := display.Lesson{Learnt: s.Lesson.Learnt}
	for _, reading := range s.Lesson.Read {
		if reading.Gear == "" || set.Form(reading.Gear) == reading.Form {
			lesson.Read = append(lesson.Read, reading)
		}
	}
	if set.String() != gears.Textbook {
		lesson.Read = append(lesson.Read, display.Reading{File: "docs/gears.md", Why: "the textbook form of each gear, a page each: --gears textbook"})
	}
	return lesson
}

// The pauses of a script: how long a new picture is left to be looked at.
const (
	look    = time.Second
	curtain = 1500 * time.Millisecond
)

// All returns the scenes in the order in which they are best seen.
func All() []Scene {
	return []Scene{deletion, finalizer, brokenAPIService, expiredWatch, slowHandler, conflict, secondParty, emptiedFinalizers, virtualMachine, rollout, garbage}
}

// Default is the name of the scene to begin with.
const Default = "delete"

// Names returns the names of the scenes.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// UnknownError says that there is no scene of that name, and which there are.
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

// slowMotion makes the server answer late when the controller empties a type, so that the eye can follow, and says so.
func slowMotion(on *stage.Stage) (end func(), err error) {
	on.Tell(story.Demo, "slow motion: the server answers each deletecollection late, so that the eye can follow; everything else is as fast as it is")
	id, err := on.Fault("delay:by=150ms,verb=deletecollection")
	return func() { on.Repair(id) }, err
}

// reported tells whether the namespace says of itself that the condition holds.
func reported(condition string) func(*story.State) bool {
	return func(s *story.State) bool {
		return slices.ContainsFunc(s.Namespace.Conditions, func(c story.Condition) bool { return c.Type == condition })
	}
}

// toFinalizers fills the namespace, does what the scene wants to do with it then, deletes it, and returns when only what has
// a finalizer is left.
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

// inOrder does one thing after the other until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
