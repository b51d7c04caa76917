package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/observe/web/view"
)

// Condition is a condition on items, such as
//
//	key==demo && gate==G2 || deltas~D
//
// The names are key, gear, gate, event, verb, resource, handler, deltas and failures, the operators
// ==, !=, ~ (contains), < and >. && binds stronger than ||. A key may be named without its
// namespace. The zero Condition holds for every item. The page's filters have the same form.
type Condition struct {
	text         string
	alternatives [][]comparison
}

type comparison struct{ name, operator, value string }

// fieldNames are the names in conditions.
var fieldNames = []string{"key", "gear", "event", "verb", "resource", "handler", "deltas", "failures", "gate"}

// gearOf has the packages in which items wait.
var gearOf = map[ID]string{
	G2: "deltafifo", G4: "informer", G5: "queue", G6: "restclient", G7: "queue",
}

// fields returns what conditions can name, "" for what the item does not have.
func (i Item) fields() map[string]string {
	failures := ""
	if i.Gate == G5 || i.Gate == G7 {
		failures = strconv.Itoa(i.Failures)
	}
	return map[string]string{
		"key": i.Key, "gear": gearOf[i.Gate], "gate": string(i.Gate), "event": i.Event, "verb": i.Verb,
		"resource": i.Resource, "handler": i.Handler, "deltas": i.Deltas, "failures": failures,
	}
}

var comparisonForm = regexp.MustCompile(`^\s*(\w+)\s*(==|!=|~|<|>)\s*("[^"]*"|[^\s&|]+)\s*(&&|\|\||$)`)

// ParseCondition reads a condition; "" is the zero Condition. The error is a sentence for a reader.
func ParseCondition(text string) (Condition, error) {
	c := Condition{text: strings.TrimSpace(text)}
	if c.text == "" {
		return c, nil
	}
	c.alternatives = [][]comparison{nil}
	for rest := c.text; rest != ""; {
		match := comparisonForm.FindStringSubmatch(rest)
		if match == nil {
			return Condition{}, fmt.Errorf("after %q: NAME == VALUE is expected", strings.TrimSuffix(c.text, rest))
		}
		name, operator, value, joint := match[1], match[2], match[3], match[4]
		if !slices.Contains(fieldNames, name) {
			return Condition{}, fmt.Errorf("%q is not one of %s", name, strings.Join(fieldNames, ", "))
		}
		rest = rest[len(match[0]):]
		if joint != "" && strings.TrimSpace(rest) == "" {
			return Condition{}, fmt.Errorf("nothing follows %s", joint)
		}
		last := len(c.alternatives) - 1
		c.alternatives[last] = append(c.alternatives[last], comparison{name, operator, strings.Trim(value, `"`)})
		if joint == "||" {
			c.alternatives = append(c.alternatives, nil)
		}
	}
	return c, nil
}

// String returns the text of the condition.
func (c Condition) String() string { return c.text }

// Holds reports whether an item meets the condition.
func (c Condition) Holds(item Item) bool {
	return len(c.alternatives) == 0 || slices.ContainsFunc(c.alternatives, func(all []comparison) bool {
		return !slices.ContainsFunc(all, func(one comparison) bool { return !one.holds(item) })
	})
}

func (c comparison) holds(item Item) bool {
	found := item.fields()[c.name]
	equal := found == c.value || c.name == "key" && strings.HasSuffix(found, "/"+c.value)
	switch c.operator {
	case "==":
		return equal
	case "!=":
		return !equal
	case "~":
		return strings.Contains(found, c.value)
	}
	x, noX := strconv.ParseFloat(found, 64)
	y, noY := strconv.ParseFloat(c.value, 64)
	return cmp.Or(noX, noY) == nil && (c.operator == "<" && x < y || c.operator == ">" && x > y)
}

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
	}
}

// Guided reports whether there is a reader to lead. Without one, Chapter, Ask, Answer and Reveal do
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

// Answer records the reader's choice; Ask returns. Only the first call has an effect.
func (g *Gates) Answer(choice string) {
	if g.Guided() {
		g.once.Do(func() {
			g.recorder.Input("answer", choice)
			close(g.chosen)
		})
	}
}

// answered reports whether no question is open.
func (g *Gates) answered() bool {
	if !g.Guided() {
		return true
	}
	select {
	case <-g.chosen:
		return true
	default:
		return false
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
		g.Answer(c.Choice)
		return nil
	}
	if !g.answered() {
		return errors.New("the gates are the scene's until its question is answered")
	}
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
			Name: string(id), Wired: gate.wired, Closed: gate.closed, Where: gate.only.String(),
			Waiting: len(gate.waiting),
		})
	}
	if g.runTo != nil {
		state.RunTo = g.runTo.String()
	}
	return state, g.changed
}
