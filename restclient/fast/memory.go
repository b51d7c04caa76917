package fast

import (
	"bytes"

	"orrery/restclient/api"
)

// sharedParts are what the objects of one list or watch have in common, so that it is kept once: maps of labels and annotations,
// lists of owners, and interned strings. All of it is bounded.
//
// Objects may share a map because those that were read are not changed, least of all those of which only the metadata was
// read: they cannot be written back.
type sharedParts struct {
	labels      recent[map[string]string]
	annotations recent[map[string]string]
	owners      recent[[]api.OwnerReference]
	strings     map[string]*interned
}

// interned is a string that many objects have: a namespace, a key. last is the value that a key had last: single values of
// labels and annotations are often the same in many objects, too.
type interned struct{ text, last string }

const (
	maxInterned       = 1024
	maxInternedLength = 256 // bytes
)

// intern returns the text as a string that equal texts share. It does not keep text.
func (p *sharedParts) intern(text []byte) *interned {
	if s := p.strings[string(text)]; s != nil {
		return s
	}
	s := &interned{text: string(text)}
	if len(p.strings) < maxInterned && len(text) <= maxInternedLength {
		if p.strings == nil {
			p.strings = map[string]*interned{}
		}
		p.strings[s.text] = s
	}
	return s
}

// recent remembers the last few values together with the bytes that they were decoded from.
type recent[V any] struct {
	entries [4]struct {
		raw   []byte
		value V
	}
	oldest int
}

// find returns the value that was decoded from the bytes that data begins with, and their number; 0 if there is none.
func (r *recent[V]) find(data []byte) (value V, n int) {
	for i := range r.entries {
		if e := &r.entries[i]; len(e.raw) > n && bytes.HasPrefix(data, e.raw) {
			value, n = e.value, len(e.raw)
		}
	}
	return value, n
}

// put remembers a value in place of the oldest one.
func (r *recent[V]) put(raw []byte, value V) {
	e := &r.entries[r.oldest]
	r.oldest = (r.oldest + 1) % len(r.entries)
	e.raw, e.value = append(e.raw[:0], raw...), value
}

// textBuffer collects the texts that belong to one object alone, and makes one string of them, of which each field gets its
// part: one allocation in place of a dozen. The texts of an object live and die together, so the string keeps nothing alive that
// is not needed. (One string for a whole page would: the page, for as long as a single object of it is in the store.)
type textBuffer struct {
	buffer []byte
	fields []textField
	pairs  []textPair // of the maps, one map after the other
	maps   []textMap
}

// textField is a field whose text is buffer[from:to].
type textField struct {
	into     *string
	from, to int
}

// textPair is an entry of a map. Its value is buffer[from:to], or, if that is empty, value.
type textPair struct {
	key      *interned
	value    string
	from, to int
}

// textMap is a map to be made of pairs[from:to].
type textMap struct {
	into     *map[string]string
	from, to int
	memory   *recent[map[string]string]
	raw      []byte // what it was decoded from
}

func (t *textBuffer) reset() {
	clear(t.fields)
	clear(t.maps)
	clear(t.pairs)
	t.buffer, t.fields, t.pairs, t.maps = t.buffer[:0], t.fields[:0], t.pairs[:0], t.maps[:0]
}

// add adds the text of a field.
func (t *textBuffer) add(into *string, text []byte) {
	from := len(t.buffer)
	t.buffer = append(t.buffer, text...)
	t.fields = append(t.fields, textField{into, from, len(t.buffer)})
}

// addPrefix adds a text that the first field probably begins with: what a name was generated from.
func (t *textBuffer) addPrefix(into *string, text []byte) {
	if len(t.fields) > 0 {
		if first := t.fields[0]; bytes.HasPrefix(t.buffer[first.from:first.to], text) {
			t.fields = append(t.fields, textField{into, first.from, first.from + len(text)})
			return
		}
	}
	t.add(into, text)
}

// addPair adds an entry of a map. The value that the key had last is shared.
func (t *textBuffer) addPair(key *interned, value []byte) {
	if key.last == string(value) {
		t.pairs = append(t.pairs, textPair{key: key, value: key.last})
		return
	}
	from := len(t.buffer)
	t.buffer = append(t.buffer, value...)
	t.pairs = append(t.pairs, textPair{key: key, from: from, to: len(t.buffer)})
}

// finish sets all fields, and forgets the object: an idle watch must not keep the last one alive.
func (t *textBuffer) finish() {
	text := string(t.buffer)
	for _, f := range t.fields {
		*f.into = text[f.from:f.to]
	}
	for _, m := range t.maps {
		entries := make(map[string]string, m.to-m.from)
		for _, p := range t.pairs[m.from:m.to] {
			if p.from < p.to {
				p.value = text[p.from:p.to]
				if len(p.value) <= maxInternedLength {
					p.key.last = p.value
				}
			}
			entries[p.key.text] = p.value
		}
		*m.into = entries
		m.memory.put(m.raw, entries)
	}
	t.reset()
}
