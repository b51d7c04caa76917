package trace

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Next applies an event and returns the difference that it makes, as a JSON merge patch (RFC 7396),
// without s and t, which the event has. The fold changes maps by change, put and drop only, so that
// the cost does not grow with the State.
func (s *State) Next(e *Event) (difference []byte) {
	s.before = map[uintptr]map[string]any{}
	was := *s
	s.Apply(e)
	was.Seq, was.Time = s.Seq, s.Time
	difference = s.appendDifference(nil, reflect.ValueOf(was), reflect.ValueOf(*s))
	s.before = nil
	return difference
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
	id := reflect.ValueOf(m).Pointer()
	if s.before[id] == nil {
		s.before[id] = map[string]any{}
	}
	if _, known := s.before[id][key]; known {
		return
	}
	s.before[id][key] = nil
	if entry, ok := m[key]; ok {
		s.before[id][key] = reflect.Indirect(reflect.ValueOf(entry)).Interface() // a copy
	}
}

// appendDifference appends the object of what has changed in a struct, or nothing.
func (s *State) appendDifference(out []byte, was, is reflect.Value) []byte {
	start := len(out)
	for i := range is.NumField() {
		field := is.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch was, is := was.Field(i), is.Field(i); {
		case is.Kind() == reflect.Map:
			out = appendMember(out, start, name, s.appendEntries(nil, was, is))
		case is.Kind() == reflect.Struct:
			out = appendMember(out, start, name, s.appendDifference(nil, was, is))
		case !was.Equal(is) && is.Kind() == reflect.Pointer && is.IsNil():
			out = appendMember(out, start, name, null)
		case !was.Equal(is):
			out = appendMember(out, start, name, encode(is.Interface()))
		}
	}
	return closed(out, start)
}

// appendEntries appends the object of the entries of a map that have changed, or nothing.
func (s *State) appendEntries(out []byte, was, is reflect.Value) []byte {
	start, before := len(out), s.before[is.Pointer()]
	if was.Pointer() != is.Pointer() { // another map has taken its place
		before = map[string]any{}
		for _, m := range []reflect.Value{was, is} {
			for _, key := range m.MapKeys() {
				before[key.String()] = nil
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		entry := is.MapIndex(reflect.ValueOf(key))
		switch old := reflect.ValueOf(before[key]); {
		case !entry.IsValid():
			out = appendMember(out, start, key, null)
		case old.Kind() == reflect.Struct && entry.Kind() == reflect.Pointer:
			out = appendMember(out, start, key, s.appendDifference(nil, old, entry.Elem()))
		case !old.IsValid() || !old.Comparable() || !old.Equal(entry):
			out = appendMember(out, start, key, encode(entry.Interface()))
		}
	}
	return closed(out, start)
}

var null = []byte("null")

// appendMember appends a member to the object that begins at start, unless the value is empty.
func appendMember(out []byte, start int, name string, value []byte) []byte {
	if len(value) == 0 {
		return out
	}
	separator := byte(',')
	if len(out) == start {
		separator = '{'
	}
	out = append(append(out, separator), encode(name)...)
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

// merge applies a merge patch to a state.
func merge(state, patch map[string]any) {
	for key, value := range patch {
		members, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(state, key)
		case isObject:
			inner, known := state[key].(map[string]any)
			if !known {
				inner = map[string]any{}
				state[key] = inner
			}
			merge(inner, members)
		default:
			state[key] = value
		}
	}
}
