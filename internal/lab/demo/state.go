package demo

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/trace"
	"orrery/internal/words"
)

// State is the current state of a demo.
type State struct {
	// Scene is the scene's name.
	Scene string
	Words Words
	// Lang is the language of the sentences.
	Lang words.Lang
	// Elapsed is the time since the demo began.
	Elapsed time.Duration
	// Now says what is happening, and why it takes its time.
	Now string
	// Until is the end of Now, if it is known.
	Until time.Duration

	// Alone: the scene plays on single gears, without a controller. It has a Panel and Figures, and
	// none of the next four.
	Alone bool
	// Follow are the packages, and single events, that a scene on a bare stage tells of its keys.
	Follow []string
	// Reported are the informers whose lists and watches are told, beside that of the namespaces. A
	// scene on single gears tells those of all.
	Reported []string
	// Backlog are the handlers of the configmaps that have a bar each.
	Backlog []string
	// Run is what the gears have recorded; nil in a copy.
	Run *trace.State
	// recorded is the time from the beginning of the recording to that of the story.
	recorded time.Duration
	// Panel is the picture of the gear, a row for each of its parts.
	Panel []Row
	// Figures are what the scene has measured.
	Figures []Row

	Namespace NamespaceStory
	// Types are the types of the content, in the order of the bars.
	Types []Type
	Gears Gears
	// Lines are further bars of a scene, such as the pending notifications of each handler.
	Lines []Type

	Beats []Beat
}

// Words are the words of a scene.
type Words struct {
	// Summary is a few words for lists.
	Summary words.Text
	// Happens says what is going to happen and Look what to watch, a sentence or two each.
	Happens, Look words.Text
	// Choices and Answer are those of a guided scene; see Question.
	Choices []string
	Answer  string
	// Learnt and Read are printed at the end.
	Learnt []words.Text
	Read   []Reading
}

// Reading is a file of the repository, with the reason to read it.
type Reading struct {
	File string
	words.Text
}

// NamespaceStory is the namespace of the story, as the gears know it.
type NamespaceStory struct {
	Name string
	// Phase is Active or Terminating, "" before the namespace exists, and Gone afterwards.
	Phase string
	// Conditions are the types of those with status True.
	Conditions []string
}

// Gone is the phase of a deleted namespace.
const Gone = "gone"

// Type counts the objects of one type, for a bar.
type Type struct {
	Name string
	// Left is the current number, Most the highest so far.
	Left, Most int
}

// Row is a name and a text, in one line.
type Row struct{ Name, Text string }

// Left returns how long Now lasts, 0 if that is unknown.
func (s State) Left() time.Duration { return max(0, s.Until-s.Elapsed) }

func (s State) clone() State {
	s.Run = nil // it goes on
	s.Panel = slices.Clone(s.Panel)
	s.Figures = slices.Clone(s.Figures)
	s.Types = slices.Clone(s.Types)
	s.Lines = slices.Clone(s.Lines)
	s.Beats = slices.Clip(s.Beats) // later beats go to another array
	return s
}

// Count sets the number of objects of a type.
func (s *State) Count(name string, left int) { count(s.Types, name, left) }

// count reports whether there is a bar of this name, and sets its number.
func count(bars []Type, name string, left int) bool {
	i := slices.IndexFunc(bars, func(t Type) bool { return t.Name == name })
	if i >= 0 {
		bars[i].Left, bars[i].Most = left, max(bars[i].Most, left)
	}
	return i >= 0
}

// TypeNamed returns the bar of a type, the zero Type if there is none.
func (s *State) TypeNamed(name string) Type {
	for _, t := range s.Types {
		if t.Name == name {
			return t
		}
	}
	return Type{}
}

// Total returns the sum of all types.
func (s *State) Total() Type {
	total := Type{Name: "all"}
	for _, t := range s.Types {
		total.Left += t.Left
		total.Most += t.Most
	}
	return total
}

// Line sets a further bar.
func (s *State) Line(name string, left int) {
	if !count(s.Lines, name, left) {
		s.Lines = append(s.Lines, Type{Name: name, Left: left, Most: left})
	}
}

// Show sets the text of a row of the panel, and adds the row if there is none of this name.
func (s *State) Show(name, format string, args ...any) {
	s.Panel = set(s.Panel, s.said(name), s.Say(format, args...))
}

// Figure sets a figure that the scene has measured.
func (s *State) Figure(name, format string, args ...any) {
	s.Figures = set(s.Figures, s.said(name), s.Say(format, args...))
}

func set(rows []Row, name, text string) []Row {
	row := Row{name, words.OneLine(text)}
	for i := range rows {
		if rows[i].Name == name {
			rows[i] = row
			return rows
		}
	}
	return append(rows, row)
}

// Bar returns a bar of width columns, of which part/whole are full. Only 0 is an empty bar, and
// only whole a full one.
func Bar(part, whole, width int) string {
	columns := 0
	if whole > 0 {
		columns = max(0, min(width, (part*width+whole-1)/whole))
	}
	if part < whole && width > 1 {
		columns = min(columns, width-1)
	}
	return strings.Repeat(full, columns) + strings.Repeat(empty, width-columns)
}

// Beat is one thing that happened.
type Beat struct {
	// At is the time since the demo began.
	At time.Duration
	// Who acted.
	Who Who
	// Text is a sentence without a full stop, in one line.
	Text string
	// Event is what the sentence tells; the zero Event if the script tells it.
	Event trace.Event
}

// Who is an actor of a story.
type Who string

// The cast, in the order in which an event passes.
const (
	Demo      Who = "demo"      // the script itself
	You       Who = "you"       // a user with kubectl
	Server    Who = "server"    // the API server
	Operator  Who = "operator"  // the owner of a finalizer
	Reflector Who = "reflector" // list, watch
	FIFO      Who = "deltafifo" // the deltas of each key
	Indexer   Who = "indexer"   // the store
	Handler   Who = "handler"   // OnAdd, OnUpdate, OnDelete
	Queue     Who = "queue"     // the keys and their delays
	Worker    Who = "worker"    // takes a key and makes a pass
	Deleter   Who = "deleter"   // the steps of a pass
)
