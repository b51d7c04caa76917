package dispatchbench

import (
	"strconv"
	"strings"

	"orrery/internal/lab/bench/load"
)

// script is a sequence of events that is played in laps: at its end the objects are in their
// initial state.
//
// Event i has the unique resource version firstVersion+i. The object after the last one is the
// mark: its events end a phase and are not part of the sequence.
type script struct {
	keys   []string   // by object; the last is the mark
	names  []Identity // by object, without a version
	events []event
	last   []int32 // by object: its last event, the mark's included
	laps   int     // the number of events in a lap; the rest are the mark's
}

// event is an update of an object.
type event struct {
	object   int32
	previous int32 // the object's previous event, possibly in the lap before
	next     int32 // the object's next event, possibly in the lap after
	version  string
}

// firstVersion gives all versions seven digits.
const firstVersion = 1_000_000

// versionBefore is the version of an object that never changes.
var versionBefore = strconv.Itoa(firstVersion - 1)

// marks is the number of states of the mark, used in turn, since an update needs a new version.
const marks = 2

// newScript returns a script of about n updates of objects drawn from cfg.Distribution.
func newScript(cfg Config, n int) *script {
	pick := load.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed).Picker(0)
	objects := make([]int, n)
	counts := make([]int, cfg.Objects)
	for i := range objects {
		objects[i] = pick.Next()
		counts[objects[i]]++
	}
	// An object with one event per lap would return in the same version, which is not an update.
	for object, count := range counts {
		if count == 1 {
			objects = append(objects, object)
		}
	}
	return scriptOf(cfg, objects)
}

// newRound returns a script in which the objects change in turn, each twice.
func newRound(cfg Config) *script {
	turns := make([]int, 2*cfg.Objects)
	for i := range turns {
		turns[i] = i % cfg.Objects
	}
	return scriptOf(cfg, turns)
}

func scriptOf(cfg Config, objects []int) *script {
	s := &script{keys: load.NewKeys(cfg.Objects+1, load.Uniform, cfg.Seed).All(), laps: len(objects)}
	for _, object := range objects {
		s.events = append(s.events, event{object: int32(object)})
	}
	for range marks {
		s.events = append(s.events, event{object: int32(cfg.Objects)})
	}
	for _, key := range s.keys {
		namespace, name, _ := strings.Cut(key, "/")
		s.names = append(s.names, Identity{Namespace: namespace, Name: name})
	}
	for i := range s.events {
		s.events[i].version = strconv.Itoa(firstVersion + i)
	}
	s.link()
	return s
}

// link sets the previous and next event of each; laps wrap around.
func (s *script) link() {
	s.last = make([]int32, len(s.keys))
	for i := range s.last {
		s.last[i] = -1
	}
	for i, e := range s.events {
		s.last[e.object] = int32(i)
	}
	before := append([]int32(nil), s.last...)
	for i := range s.events {
		e := &s.events[i]
		e.previous = before[e.object]
		s.events[e.previous].next = int32(i)
		before[e.object] = int32(i)
	}
}

// gap returns the number of events from event i to the next one of its object.
func (s *script) gap(i int) int {
	if gap := int(s.events[i].next) - i; gap > 0 {
		return gap
	}
	return int(s.events[i].next) - i + s.laps
}

// identity returns the identity of the state in event i.
func (s *script) identity(i int) Identity {
	return s.identityOf(int(s.events[i].object), s.events[i].version)
}

// initialIdentity returns the state of an object before the first lap: that of its last event, or
// versionBefore if it has none.
func (s *script) initialIdentity(object int) Identity {
	if last := s.last[object]; last >= 0 {
		return s.identity(int(last))
	}
	return s.identityOf(object, versionBefore)
}

func (s *script) identityOf(object int, version string) Identity {
	id := s.names[object]
	id.ResourceVersion = version
	return id
}

// eventOf returns the event with the given version, or -1.
func (s *script) eventOf(version string) int {
	v := 0
	for i := range len(version) {
		v = 10*v + int(version[i]-'0')
	}
	if v -= firstVersion; v < 0 || v >= len(s.events) {
		return -1
	}
	return v
}

// versionOf returns the version of an event, or versionBefore for -1.
func (s *script) versionOf(event int32) string {
	if event < 0 {
		return versionBefore
	}
	return s.events[event].version
}
