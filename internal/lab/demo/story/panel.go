package story

import (
	"fmt"
	"strings"
	"time"
)

// Show sets the text of a row of the panel, and adds the row if there is none of this name.
func (s *State) Show(name, format string, args ...any) {
	s.Panel = set(s.Panel, name, fmt.Sprintf(format, args...))
}

// Figure sets a figure that the scene has measured.
func (s *State) Figure(name, format string, args ...any) {
	s.Figures = set(s.Figures, name, fmt.Sprintf(format, args...))
}

func set(rows []Row, name, text string) []Row {
	row := Row{name, harmless(text)}
	for i := range rows {
		if rows[i].Name == name {
			rows[i] = row
			return rows
		}
	}
	return append(rows, row)
}

// Bar returns a bar of width columns, of which part/whole are full. Only 0 is an empty bar.
func Bar(part, whole, width int) string {
	full := 0
	if whole > 0 {
		full = max(0, min(width, (part*width+whole-1)/whole))
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// Beat is one thing that happened.
type Beat struct {
	// At is the time since the demo began.
	At time.Duration
	// Who acted.
	Who Who
	// Text is a sentence without a full stop, in one line.
	Text string
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

// Cast returns the cast in that order.
func Cast() []Who {
	return []Who{Demo, You, Server, Operator, Reflector, FIFO, Indexer, Handler, Queue, Worker, Deleter}
}
