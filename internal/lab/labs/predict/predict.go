// Package predict computes the answers to the questions of predict.yaml. A question has a script, a
// command a line. An interpreter runs it on the textbook form of a gear that is linked into this
// program, and what the last command yields is the answer. No answer is stored anywhere.
//
// There is an interpreter for each gear, a page each; its table of commands is its documentation.
// Only the measurements of bench.go wait for time to pass. Elsewhere a command reads what the gear
// has planned.
package predict

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/labs/manifest"
)

// gears are the interpreters. ctx ends after the script.
var gears = map[string]func(ctx context.Context) commands{
	"errors":    newErrors,
	"decoder":   newDecoder,
	"store":     newStore,
	"deltafifo": newDeltaFIFO,
	"inorder":   newRealFIFO,
	"reflector": newReflector,
	"informer":  newInformer,
	"queue":     newQueue,
	"delays":    newDelays,
	"until":     newUntil,
	"deleter":   newDeleter,
	"machine":   newMachine,
	"bench":     newBench,
}

// commands are the commands of a gear by their usage: the name, then a word for each argument. The
// last word may be "WORDS...", for any number of arguments. A command yields "" if it has nothing
// to say.
type commands map[string]func(args ...string) (string, error)

// Line is a command of a script, and what it yielded.
type Line struct{ Command, Yields string }

// Computed is the outcome of a script.
type Computed struct {
	// Lines are the commands without comments.
	Lines []Line
	// Answer is what the last command yielded.
	Answer string
}

// limit bounds a script. Each takes milliseconds, or seconds on a busy machine; only a wrong script
// waits for what never comes.
const limit = time.Minute

// Run runs the script of a question.
func Run(ctx context.Context, question *manifest.Question) (computed Computed, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	gear := gears[question.Gear]
	if gear == nil {
		return computed, fmt.Errorf("there is no gear %q", question.Gear)
	}
	table := gear(ctx)
	for line := range strings.Lines(question.Script) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		yields, err := table.run(words)
		if err != nil {
			return computed, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
		}
		computed.Lines = append(computed.Lines, Line{strings.Join(words, " "), yields})
		computed.Answer = yields
	}
	if computed.Answer == "" {
		return computed, fmt.Errorf("the last command yields nothing")
	}
	return computed, nil
}

// run runs one command.
func (c commands) run(words []string) (string, error) {
	var usages []string
	for usage, command := range c {
		form := strings.Fields(usage)
		if form[0] == words[0] {
			if n := len(form); n == len(words) || strings.HasSuffix(usage, "...") && len(words) >= n-1 {
				return command(words[1:]...)
			}
			return "", fmt.Errorf("its form is %q", usage)
		}
		usages = append(usages, usage)
	}
	slices.Sort(usages)
	return "", fmt.Errorf("there is no such command, only %s", strings.Join(usages, ", "))
}

// Right returns the choice that is right, or nil if not exactly one is.
func (c Computed) Right(question *manifest.Question) *manifest.Choice {
	var right *manifest.Choice
	for i := range question.Choices {
		if choice := &question.Choices[i]; choice.Is == c.Answer {
			if right != nil {
				return nil
			}
			right = choice
		}
	}
	return right
}

// object is what scripts put into gears; "a@5" is the object a in version 5.
type object struct{ name, version, node string }

func parseObject(word string) *object {
	name, version, _ := strings.Cut(word, "@")
	return &object{name: name, version: version}
}

func parseObjects(words []string) []*object {
	objects := make([]*object, len(words))
	for i, word := range words {
		objects[i] = parseObject(word)
	}
	return objects
}

func (o *object) GetNamespace() string       { return "" }
func (o *object) GetName() string            { return o.name }
func (o *object) GetResourceVersion() string { return o.version }

func (o *object) String() string {
	if o.version == "" {
		return o.name
	}
	return o.name + "@" + o.version
}

func keyOf(o *object) (string, error) { return o.name, nil }

// list joins words, and is "nothing" for none.
func list(words []string, separator string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, separator)
}

// await polls until condition holds. It is for what other goroutines do at once.
func await(ctx context.Context, condition func() bool) error {
	for !condition() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("what the command waits for does not come: %w", ctx.Err())
		case <-time.After(50 * time.Microsecond):
		}
	}
	return nil
}
