package demo

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/internal/words"
	"orrery/restclient/api"
)

// sentence is a row of the table that the terminal and the page share: who says what of an event.
// {i} and other names in braces are the fields of a [trace.Event] in a recording; {us} is a time,
// {d} has the names of the deltas. "object[s]" is a plural behind a number.
type sentence struct {
	Event string `json:"e"`
	// If are words of facts that must hold, with a "!" those that must not. The first row counts.
	If  string `json:"if"`
	Who Who    `json:"who"`
	words.Text
}

// sentences are the rows, by event.
var sentences = sync.OnceValue(func() map[string][]sentence {
	var rows []sentence
	if err := json.Unmarshal(web.Sentences(), &rows); err != nil {
		panic(err) // the table is part of the program
	}
	byEvent := map[string][]sentence{}
	for _, row := range rows {
		byEvent[row.Event] = append(byEvent[row.Event], row)
	}
	return byEvent
})

func (row sentence) holds(facts map[string]bool) bool {
	for word := range strings.FieldsSeq(row.If) {
		if name, not := strings.CutPrefix(word, "!"); facts[name] == not {
			return false
		}
	}
	return true
}

// sentence returns what is told of an event; s is the state before it. A text "" is nothing.
func (s *State) sentence(e *trace.Event) (who Who, text string) {
	rows := sentences()[e.Name]
	if len(rows) == 0 || !s.tells(e) {
		return "", ""
	}
	facts := s.facts(e)
	at := slices.IndexFunc(rows, func(row sentence) bool { return row.holds(facts) })
	if at < 0 {
		return "", ""
	}
	more := map[string]any{"pass": s.pass(e), "deltas": max(e.M, int64(utf8.RuneCountInString(e.Deltas)))}
	if kind := typeOf(e); kind != "" {
		more["type"], more["most"] = kind, s.most(e)
	}
	if request := s.Run.Requests.Running(e.Request); request != nil {
		more["verb"] = request.Verb
	}
	return rows[at].Who, s.filled(rows[at].In(s.Lang), e, more)
}

// facts are the words in the conditions of the table. sentence.js has them, too, and there "page"
// holds.
func (s *State) facts(e *trace.Event) map[string]bool {
	q, n, i := s.Run.Queues[e.In], s.Run.Namespaces[e.Key], s.Run.Informers[e.In]
	if q == nil {
		q = &trace.QueueState{}
	}
	if n == nil {
		n = &trace.NamespaceState{}
	}
	held, delay, condition := q.Processing[e.Key], q.Delayed[e.Key], n.Conditions[e.Type]
	const same = int64(20 * time.Millisecond / time.Microsecond) // an earlier time stays
	later := delay != (trace.DelayState{}) && e.Time+e.Micros > delay.At+delay.Micros-same
	isTrue := func(status string) bool { return status == string(api.ConditionTrue) }
	others := false
	for other, c := range n.Conditions {
		others = others || other != e.Type && isTrue(c.Status)
	}
	failed := q.Failures[e.Key] > 0
	return map[string]bool{
		"err": e.Err != "", "missing": strings.HasPrefix(e.Err, string(api.ReasonNotFound)),
		"none": e.N == 0, "some": e.M > 0, "counted": s.most(e) > 0, "answered": e.Code > 0,
		"add": e.Kind == "add", "update": e.Kind == "update", "delete": e.Kind == "delete",
		"same": e.Sync || e.Kind == "", "last": i != nil && e.In == "pods" && i.Store.Total == 1,
		"held": held != nil, "dirty": held != nil && held.Dirty,
		"failed": failed, "sooner": !failed && e.Micros > 0 && !later,
		"new": n.DueAt == 0 || n.UID != e.UID, "first": n.Passes <= 1,
		"failing": n.Failures > 0, "again": e.Err == n.Err,
		"true": isTrue(e.Status), "was": isTrue(condition.Status), "others": others,
		"changed": condition.Status != e.Status || condition.Message != e.Message,
	}
}

// typeOf returns the type that an event is about, without its group.
func typeOf(e *trace.Event) string {
	kind, _, _ := strings.Cut(e.Resource, ".")
	return kind
}

// most returns how many objects there were of the type of an event.
func (s *State) most(e *trace.Event) int {
	return max(s.TypeNamed(typeOf(e)).Most, int(e.N))
}

// pass returns the number of the pass that an event belongs to; s is the state before it.
func (s *State) pass(e *trace.Event) (number uint64) {
	if n := s.Run.Namespaces[e.Key]; n != nil {
		number = n.Passes
	}
	if e.Name == "nsctl.passStarted" {
		number++
	}
	return number
}

// tells reports whether the terminal tells of an event: it is of the namespace, or the scene
// follows it.
func (s *State) tells(e *trace.Event) bool {
	gear, hook, _ := strings.Cut(e.Name, ".")
	switch gear {
	case "nsctl":
		return e.Key == s.Namespace.Name
	case "queue":
		ours := e.In == NamespaceQueue && e.Key == s.Namespace.Name
		return (ours || s.follows(e.Name)) && (s.Alone || slices.Contains(delays, hook))
	case "restclient":
		return s.follows(e.Name)
	case "indexer":
		return true
	}
	switch {
	case e.Key == "":
		return s.Alone || e.In == "namespaces" || slices.Contains(s.Reported, e.In)
	case e.In == "namespaces" && e.Key != s.Namespace.Name, e.In != "namespaces" && !s.follows(e.Name):
		return false
	case hook == "distributed":
		return !s.Alone
	}
	return hook != "applied" || s.Alone
}

// follows reports whether a scene on a bare stage follows an event, or all of its gear.
func (s *State) follows(name string) bool {
	gear, _, _ := strings.Cut(name, ".")
	return slices.Contains(s.Follow, gear) || slices.Contains(s.Follow, name)
}

// enterPass says what an event begins, and why the namespace waits for its next pass, in at most
// two lines of a small terminal; s is the state after it.
func (s *State) enterPass(e *trace.Event) {
	n, q := s.Run.Namespaces[s.Namespace.Name], s.Run.Queues[NamespaceQueue]
	if n == nil || q == nil || e.Key != s.Namespace.Name {
		return
	}
	now := "pass %d: pods first, then everything else, and then the namespace, if it is empty"
	waits := "until the next pass: the remaining content needs time, and more requests would not speed it up"
	switch {
	case n.Failures > 0:
		now = "pass %d: the controller retries"
		waits = "until the next retry: each failure doubles the delay, so that a broken server is not overloaded"
	case n.Passes == 0:
		waits = "until the first pass: another API server may not know of the deletion yet, and still admit objects"
	}
	delay := q.Delayed[e.Key]
	switch {
	case e.Name == "nsctl.passStarted":
		s.Enter(s.Say(now, n.Passes), 0)
	case e.In != "" && e.In != NamespaceQueue || n.Running || delay.Micros == 0:
	case e.Name == "queue.delayed", e.Name == "nsctl.passDone":
		s.Enter(waits, time.Duration(delay.At+delay.Micros-e.Time)*time.Microsecond)
	}
}

var (
	place  = regexp.MustCompile(`\{(\w+)\}`)
	plural = regexp.MustCompile(`(\d+) (\w+(?: \w+)?)\[s\]`)
)

// filled returns the text of a sentence about an event. more has further fields.
func (s *State) filled(text string, e *trace.Event, more map[string]any) string {
	fields := map[string]any{}
	line, _ := json.Marshal(e)
	_ = json.Unmarshal(line, &fields)
	text = place.ReplaceAllStringFunc(text, func(name string) string {
		name = name[1 : len(name)-1]
		value, ok := more[name]
		switch {
		case ok && (name != "type" || e.Type == ""):
			return fmt.Sprint(value)
		case name == "us":
			return Short(time.Duration(e.Micros) * time.Microsecond)
		case name == "d":
			return Deltas(e.Deltas)
		case name == "err" && strings.HasPrefix(e.Err, "EOF"):
			return sentences()["EOF"][0].In(s.Lang)
		case fields[name] == nil:
			return "0"
		}
		return fmt.Sprint(fields[name])
	})
	return counted(text)
}

// counted writes each "3 object[s]" as one or many.
func counted(text string) string {
	return plural.ReplaceAllStringFunc(text, func(found string) string {
		text, noun, _ := strings.Cut(strings.TrimSuffix(found, "[s]"), " ")
		number, _ := strconv.Atoi(text)
		return words.Count(number, noun)
	})
}

//go:embed narration.yaml
var narration []byte

// translations are what the scripts say in Chinese, by what they say in English.
var translations = sync.OnceValue(func() map[string]string {
	var rows []words.Text
	if err := yaml.Unmarshal(narration, &rows); err != nil {
		panic(err) // the table is part of the program
	}
	all := map[string]string{}
	for _, row := range rows {
		all[row.English] = row.Chinese
	}
	return all
})

// said returns a text in the language of the story.
func (s *State) said(text string) string {
	if s.Lang != words.Chinese {
		return text
	}
	return cmp.Or(translations()[text], text)
}

// Say formats in the language of the story. Arguments that the table has are translated, too.
// "object[s]" is a plural behind a number.
func (s *State) Say(format string, args ...any) string {
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = s.said(text)
		}
	}
	return counted(fmt.Sprintf(s.said(format), args...))
}

// deltas are the names of the letters of deltas.
var deltas = map[rune]string{
	'A': "Added", 'U': "Updated", 'D': "Deleted", 'R': "Replaced", 'S': "Sync", '†': "Deleted (tombstone)",
}

// Deltas returns the names of deltas.
func Deltas(letters string) string {
	var all []string
	for _, letter := range letters {
		all = append(all, deltas[letter])
	}
	return strings.Join(all, ", ")
}

// Short formats d with two significant digits, or to 100µs.
func Short(d time.Duration) string {
	round := 100 * time.Microsecond
	for d >= 100*round {
		round *= 10
	}
	return d.Round(round).String()
}
