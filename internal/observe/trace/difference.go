package trace

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Next applies an event and returns the difference that it makes, as a JSON merge patch (RFC 7396),
// without s and t, which the event has. The fold changes maps by change, put and drop only, so that
// the cost of a difference does not grow with the State.
func (s *State) Next(e *Event) (difference []byte) {
	if s.before == nil {
		s.before = make([]before, 0, 8)
	}
	s.before = s.before[:0]
	was := *s
	s.Apply(e)
	was.Seq, was.Time = s.Seq, s.Time
	return s.appendDifference(nil, reflect.ValueOf(&was).Elem(), reflect.ValueOf(s).Elem())
}

// before is an entry of a map as it was before an event.
type before struct {
	of    uintptr // the map
	key   string
	entry any // a copy; nil if there was none
}

// change returns an entry of a map that the caller may change, nil if there is none.
func change[V any](s *State, m map[string]*V, key string) *V {
	entry := m[key]
	if entry != nil {
		keepBefore(s, m, key)
	}
	return entry
}

// put sets an entry of a map and returns it.
func put[V any](s *State, m map[string]V, key string, entry V) V {
	keepBefore(s, m, key)
	m[key] = entry
	return entry
}

// drop removes an entry of a map.
func drop[V any](s *State, m map[string]V, key string) {
	keepBefore(s, m, key)
	delete(m, key)
}

// keepBefore keeps an entry as it was before the event; nil if there was none.
func keepBefore[V any](s *State, m map[string]V, key string) {
	if s.before == nil {
		return
	}
	of := reflect.ValueOf(m).Pointer()
	if slices.ContainsFunc(s.before, func(b before) bool { return b.of == of && b.key == key }) {
		return
	}
	b := before{of: of, key: key}
	if entry, ok := m[key]; ok {
		b.entry = reflect.Indirect(reflect.ValueOf(entry)).Interface()
	}
	s.before = append(s.before, b)
}

// appendDifference appends the object of what has changed in a struct, or nothing.
func (s *State) appendDifference(out []byte, was, is reflect.Value) []byte {
	start := len(out)
	for i := range is.NumField() {
		var value []byte
		switch was, is := was.Field(i), is.Field(i); {
		case !is.CanInterface(): // of the journal
		case is.Kind() == reflect.Map:
			value = s.appendEntries(nil, was, is)
		case is.Kind() == reflect.Struct:
			value = s.appendDifference(nil, was, is)
		case !was.Equal(is) && is.Kind() == reflect.Pointer && is.IsNil():
			value = null
		case !was.Equal(is):
			value = encode(is.Interface())
		}
		if len(value) > 0 {
			name, _, _ := strings.Cut(is.Type().Field(i).Tag.Get("json"), ",")
			out = appendMember(out, start, encode(name), value)
		}
	}
	return closed(out, start)
}

// appendEntries appends the object of the entries of a map that have changed, or nothing.
func (s *State) appendEntries(out []byte, was, is reflect.Value) []byte {
	start := len(out)
	var changed []before
	for _, b := range s.before {
		if b.of == is.Pointer() {
			changed = append(changed, b)
		}
	}
	if was.Pointer() != is.Pointer() { // another map has taken its place
		for _, key := range append(was.MapKeys(), is.MapKeys()...) {
			changed = append(changed, before{key: key.String()})
		}
	}
	slices.SortFunc(changed, func(a, b before) int { return strings.Compare(a.key, b.key) })
	changed = slices.CompactFunc(changed, func(a, b before) bool { return a.key == b.key })
	for _, b := range changed {
		entry := is.MapIndex(reflect.ValueOf(b.key))
		switch old := reflect.ValueOf(b.entry); {
		case !entry.IsValid():
			out = appendMember(out, start, encode(b.key), null)
		case old.Kind() == reflect.Struct && entry.Kind() == reflect.Pointer:
			out = appendMember(out, start, encode(b.key), s.appendDifference(nil, old, entry.Elem()))
		case !old.IsValid() || !old.Comparable() || !old.Equal(entry):
			out = appendMember(out, start, encode(b.key), encode(entry.Interface()))
		}
	}
	return closed(out, start)
}

var null = []byte("null")

// appendMember appends a member to the object that begins at start, unless the value is empty.
func appendMember(out []byte, start int, name, value []byte) []byte {
	if len(value) == 0 {
		return out
	}
	separator := byte(',')
	if len(out) == start {
		separator = '{'
	}
	out = append(append(out, separator), name...)
	return append(append(out, ':'), value...)
}

// closed ends the object that begins at start, if there is one.
func closed(out []byte, start int) []byte {
	if len(out) == start {
		return out
	}
	return append(out, '}')
}

// encode returns the JSON of a part of a state. It cannot fail: there are only strings, numbers and
// maps.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
