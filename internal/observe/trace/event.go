package trace

import (
	"encoding/json"
	"strconv"
)

// Event is one line of a recording. Absent fields are zero or empty; hooks.go says which event
// has which.
type Event struct {
	Seq  uint64 `json:"s"` // sequence number, from 1, without gaps
	Time int64  `json:"t"` // µs since Header.Start; never goes back
	Name string `json:"e"` // package.hook, such as "deltafifo.queued"

	In              string `json:"i,omitempty"` // the informer, queue or controller
	Key             string `json:"k,omitempty"`
	UID             string `json:"uid,omitempty"` // of a namespace
	ResourceVersion string `json:"rv,omitempty"`
	// a letter for each of the newest 20 deltas, oldest first: A U D R S, † for a tombstone
	Deltas   string `json:"d,omitempty"`
	Micros   int64  `json:"us,omitempty"`
	N        int64  `json:"n,omitempty"`
	M        int64  `json:"m,omitempty"`
	Handler  string `json:"h,omitempty"` // name#id
	Pass     string `json:"p,omitempty"` // the log's reconcile_id
	Request  uint64 `json:"q,omitempty"`
	Resource string `json:"r,omitempty"`   // kubectl's name: "pods", "deployments.apps"
	Err      string `json:"err,omitempty"` // class and redacted text, at most 200 bytes

	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	On        string `json:"on,omitempty"`
	Type      string `json:"type,omitempty"` // of a watch event or a condition
	Op        string `json:"op,omitempty"`
	Kind      string `json:"kind,omitempty"` // add, update, delete, synced
	Phase     string `json:"phase,omitempty"`
	Verb      string `json:"verb,omitempty"`
	Path      string `json:"path,omitempty"`
	Identity  string `json:"identity,omitempty"`
	Text      string `json:"text,omitempty"`
	Status    string `json:"status,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
	Label     string `json:"name,omitempty"` // of a handler, scene or input
	Arguments string `json:"args,omitempty"`
	Gate      string `json:"gate,omitempty"`
	Number    uint64 `json:"num,omitempty"` // of informer.applied; in all that follows from it
	Page      int64  `json:"page,omitempty"`
	Pages     int64  `json:"pages,omitempty"`
	Attempt   int64  `json:"attempt,omitempty"`
	Code      int64  `json:"code,omitempty"`
	Pending   int64  `json:"pending,omitempty"`
	Merged    int64  `json:"merged,omitempty"`
	More      bool   `json:"more,omitempty"`
	Initial   bool   `json:"initial,omitempty"`
	Sync      bool   `json:"sync,omitempty"`
	Drain     bool   `json:"drain,omitempty"`

	// Lost, in trace.lost, is the number of lost events by gear.
	Lost map[string]uint64 `json:"lost,omitempty"`

	// Difference is a JSON merge patch from the [State] before this event to the one after it.
	Difference json.RawMessage `json:"diff,omitempty"`
	// State is the whole state after event Seq. A line with a State has no Name and is no event.
	State json.RawMessage `json:"state,omitempty"`
}

// schemaVersion is the format of the recordings that this package reads and writes.
const (
	schemaName    = "orrery.trace/"
	schemaVersion = 2
)

// Schema is the name of that format.
var Schema = schemaName + strconv.Itoa(schemaVersion)

// Header is the first line of a recording.
type Header struct {
	Version   int      `json:"h"` // 1
	Schema    string   `json:"schema"`
	Start     string   `json:"start"`           // RFC 3339, the time 0 of the events
	Clock     string   `json:"clock"`           // real or virtual
	Run       string   `json:"run,omitempty"`   // the command that was run
	Mode      string   `json:"mode,omitempty"`  // lab or cluster
	Scene     string   `json:"scene,omitempty"` // of lab demo
	Seed      uint64   `json:"seed,omitempty"`
	Gears     string   `json:"gears"` // as --gears
	Build     string   `json:"build,omitempty"`
	Workers   int      `json:"workers,omitempty"`
	Informers []string `json:"informers,omitempty"`
	Yours     []string `json:"yours,omitempty"` // the pages that a learner has written: "deltafifo/fifo.go"
}
