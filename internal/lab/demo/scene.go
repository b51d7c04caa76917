// Package demo shows the whole pipeline at work: an API server, the controller and a scripted scene
// in one process.
//
//	you ──create, delete──▶ API server ◀──list, watch── spectators ──▶ bars
//	                            ▲
//	                            └──list, watch, empty, finalize── controller ──▶ narration
//
// [Run] starts the server of package apiserver on the loopback interface, opens a [Stage] on it,
// plays a [Scene] while a display draws it, and prints a summary. When it returns, all goroutines
// have ended, the terminal is restored, and nothing is left on the machine.
//
// The controller is wired as in "orrery run". A [trace.Recorder] has hooks on every gear, and the
// [Teller] follows it. The spectators are ten informers that draw the bars. Controller,
// spectators and script have a client each, so that a fault can affect one of them. Every beat and
// every number comes from a hook or a response, never from the script's expectation.
//
// A scene is a script: the requests and faults, what the reader should watch, and what was learnt.
// It does not say what the controller does; the controller's hooks do that. A script waits for
// conditions, never for a fixed time. Such a scene ends when the namespace has gone, or with the
// error of the first request that fails. It starts no goroutine.
//
// A scene on single gears plays on a bare stage ([Options]), with or without a server. It ends the
// goroutines that it starts itself before it returns, and fails if the figures that it has measured
// are not what it is there to show.
//
// [Gates] hold the items of a run at the seams between the gears. A [Teller] keeps the events so
// far; [Page], [BeatLines] and [Summary] are pure functions from its [State] and a size to lines of
// plain text, which a [Screen] or a [Printer] shows.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/observe/trace"
	"orrery/internal/words"
	"orrery/wait"
)

// Scene is a script. Its words are in scenes.yaml.
type Scene struct {
	Name string
	// Options are what the stage needs for it.
	Options Options

	// workers is the number of workers of a scene without a controller; 0: its queue has none.
	workers int

	play step
}

//go:embed scenes.yaml
var wordFile []byte

// written are the words by scene.
var written = sync.OnceValue(func() map[string]Words { return decoded[map[string]Words](wordFile) })

// Words returns the words of the scene.
func (s Scene) Words() Words { return written()[s.Name] }

// story returns the empty story of the scene, in a language.
func (s Scene) story(lang words.Lang, recorder *trace.Recorder) *Teller {
	teller := NewTeller(recorder, s.Name, s.Words())
	teller.Update(func(state *State) {
		state.Lang, state.Alone, state.Gears.Workers = lang, s.Options.Bare, s.workers
		state.Follow, state.Reported = s.Options.Follow, s.Options.Reported
	})
	return teller
}

// Question returns what the scene asks a reader of the view.
func (s Scene) Question() Question {
	return Question{Scene: s.Name, Choices: s.Words().Choices, Answer: s.Words().Answer}
}

// Workers returns how many workers the scene's work queue has; 0 if there is none.
func (s Scene) Workers() int {
	if s.Options.Bare {
		return s.workers
	}
	return Workers
}

// Play plays a scene on a stage. Unless the stage is bare, it returns when the namespace has gone.
// Figures that are not those of the scene come from a gear that does something else: "lab run
// --scene" plays scenes with a learner's page.
func (s Scene) Play(ctx context.Context, on *Stage) error {
	err := s.play(on, ctx)
	if wrong, ok := errors.AsType[*bench.ProofError](err); ok {
		return fmt.Errorf("the scene did not show what it should: %s: got %v, want %v",
			wrong.What, wrong.Got, wrong.Want)
	}
	if err != nil {
		return err
	}
	end := "the end: the namespace and everything in it are gone"
	if s.Options.Bare {
		end = "the end"
	}
	on.Enter(end)
	return wait.Sleep(ctx, curtain)
}

// The pauses of a script, so that the reader can look at a new state.
const (
	look    = time.Second
	curtain = 1500 * time.Millisecond
)

// all are the scenes in the recommended order: the first six matter most.
var all = []Scene{
	deletion, finalizer, brokenAPIService, expiredWatch, slowConsumer, oneKey,
	slowHandler, stuck, virtualMachine, errorsScene, twoWaysOf410, index, storeDecides,
	backOff, workersInPool, twoQueues, stalled,
}

// All returns the scenes in the recommended order.
func All() []Scene { return all }

// Default is the name of the scene to see first.
const Default = "delete"

// Names returns the names of the scenes.
func Names() (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// Named returns a scene. The error lists the names.
func Named(name string) (Scene, error) {
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return Scene{}, fmt.Errorf("there is no scene %q; the scenes are %s", name, strings.Join(Names(), ", "))
}
