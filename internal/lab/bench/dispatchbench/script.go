package dispatchbench

import (
	"strconv"
	"strings"

	"orrery/internal/lab/bench/load"
)

// script is a sequence of events that is played round and round: when it ends the objects are as they were before it.
//
// Event i has the resource version firstVersion+i, which no other event has, and so has the state that it brings. The
// object that follows the last one is the mark: its events end a phase and are not part of the sequence.
type script struct {
	keys   []string   // by object; the last is the mark
	names  []Identity // by object, without a version
	events []event
	last   []int32 // by object: the last of its events, the mark's included
	laps   int     // events that are played round and round; the rest are the mark's
}

// event is one event of a script: an update of an object.
type event struct {
	object   int32
	previous int32 // the event of the object before this one, in the lap before if need be
	next     int32 // the one after it, in the lap after if need be
	version  string
}

// firstVersion makes all versions seven digits long.
const firstVersion = 1_000_000

// versionBefore is that of an object which never changes.
var versionBefore = strconv.Itoa(firstVersion - 1)

// marks is the number of states of the mark, which take turns. An update without a new version would be none.
const marks = 2

// newScript makes a script of about n updates of objects that are drawn as cfg.Distribution says.
func newScript(cfg Config, n int) *script {
	pick := load.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed).Picker(0)
	objects := make([]int, n)
	counts := make([]int, cfg.Objects)
	for i := range objects {
		objects[i] = pick.Next()
		counts[objects[i]]++
	}
	// An object that changes once in a lap would come back in the same version, which is no change.
	for object, count := range counts {
		if count == 1 {
			objects = append(objects, object)
		}
	}
	return scriptOf(cfg, objects)
}

// newRound makes a script in which the objects change in turn, each twice.
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

// link finds the events before and after each, with the object's last one before its first.
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

// gap is how many events after event i the next one of its object comes.
func (s *script) gap(i int) int {
	if gap := int(s.events[i].next) - i; gap > 0 {
		return gap
	}
	return int(s.events[i].next) - i + s.laps
}

// identity is that of the state which event i brings.
func (s *script) identity(i int) Identity {
	return s.identityOf(int(s.events[i].object), s.events[i].version)
}

// initialIdentity is the state of an object before the first lap: that of its last event, or one of its own if it has
// none.
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

// eventOf returns the event that brought a version, or -1 if it was none.
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

// versionOf is the version that an event has brought, or the one of an object that none has.
func (s *script) versionOf(event int32) string {
	if event < 0 {
		return versionBefore
	}
	return s.events[event].version
}
