package restclient

import (
	"bytes"

	"orrery/restclient/api"
)

// headText collects the texts of one object that are its own, and makes one string of them in the end, of which each gets
// its part. One allocation in place of a dozen; and as an object's texts live and die together, it keeps nothing alive
// that would not be alive without it. (One string for the texts of a page would: the whole page, for as long as a single
// object of it is in the store.)
type headText struct {
	buffer []byte
	parts  []textPart
	pairs  []textPair // of the maps, all of them one after the other
	maps   []textMap

	form         *api.ManagedFieldsForm // nil: no managed fields in own texts
	managed      *api.ManagedFields
	managedStart int
	managedEnd   int
}

// textPart is a text for a field.
type textPart struct {
	into     *string
	from, to int // in the buffer
}

// textPair is an entry of a map. Its value is known already, or is in the buffer.
type textPair struct {
	key      *word
	value    string
	from, to int
	own      bool
}

// textMap is a map that is to be made of pairs.
type textMap struct {
	into     *map[string]string
	from, to int // in pairs
	memory   *recent[map[string]string]
	raw      []byte // what it was read from
}

func (t *headText) reset() {
	clear(t.parts)
	clear(t.maps)
	clear(t.pairs)
	t.buffer, t.parts, t.pairs, t.maps = t.buffer[:0], t.parts[:0], t.pairs[:0], t.maps[:0]
	t.form, t.managed = nil, nil
}

// add notes a text for a field.
func (t *headText) add(into *string, text []byte) {
	from := len(t.buffer)
	t.buffer = append(t.buffer, text...)
	t.parts = append(t.parts, textPart{into, from, len(t.buffer)})
}

// addPrefix notes a text that the field first noted most likely begins with: what a name was generated from.
func (t *headText) addPrefix(into *string, text []byte) {
	if len(t.parts) > 0 {
		if first := t.parts[0]; bytes.HasPrefix(t.buffer[first.from:first.to], text) {
			t.parts = append(t.parts, textPart{into, first.from, first.from + len(text)})
			return
		}
	}
	t.add(into, text)
}

// addPair notes an entry of a map. Values that the key had before are shared.
func (t *headText) addPair(key *word, value []byte) {
	if key.value == string(value) {
		t.pairs = append(t.pairs, textPair{key: key, value: key.value})
		return
	}
	from := len(t.buffer)
	t.buffer = append(t.buffer, value...)
	t.pairs = append(t.pairs, textPair{key: key, from: from, to: len(t.buffer), own: true})
}

// addManaged notes what managed fields of that form have of their own.
func (t *headText) addManaged(into *api.ManagedFields, form *api.ManagedFieldsForm, own []byte) {
	t.form, t.managed, t.managedStart = form, into, len(t.buffer)
	t.buffer = append(t.buffer, own...)
	t.managedEnd = len(t.buffer)
}

// finish fills in all fields, and forgets the object: an idle watch must not keep the last one alive.
func (t *headText) finish() {
	text := string(t.buffer)
	for _, p := range t.parts {
		*p.into = text[p.from:p.to]
	}
	for _, made := range t.maps {
		entries := make(map[string]string, made.to-made.from)
		for _, p := range t.pairs[made.from:made.to] {
			if p.own {
				p.value = text[p.from:p.to]
				if len(p.value) <= maxWord {
					p.key.value = p.value
				}
			}
			entries[p.key.text] = p.value
		}
		*made.into = entries
		made.memory.put(made.raw, entries)
	}
	if t.form != nil {
		*t.managed = t.form.With(text[t.managedStart:t.managedEnd])
	}
	t.reset()
}
