package fast

import (
	"bytes"

	"orrery/restclient/api"
)

// sharedParts are the parts that the objects of one list or watch share: maps of labels and
// annotations, lists of owners, and interned strings. All of it is bounded.
type sharedParts struct {
	labels      recent[map[string]string]
	annotations recent[map[string]string]
	owners      recent[[]api.OwnerReference]
	strings     map[string]*interned
}

// interned is a string that many objects have: a namespace, a key. last is the last value of a key:
// single values of labels and annotations often repeat, too.
type interned struct{ text, last string }

const (
	maxInterned       = 1024
	maxInternedLength = 256 // bytes
)

// intern returns a string that equal texts share. It does not retain text.
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

// recent caches the last few values with the bytes that they were decoded from.
type recent[V any] struct {
	entries [4]struct {
		raw   []byte
		value V
	}
	oldest int
}

// find returns the cached value whose bytes data begins with, and their number; 0 if there is none.
func (r *recent[V]) find(data []byte) (value V, n int) {
	for i := range r.entries {
		if e := &r.entries[i]; len(e.raw) > n && bytes.HasPrefix(data, e.raw) {
			value, n = e.value, len(e.raw)
		}
	}
	return value, n
}

// put caches a value in place of the oldest one.
func (r *recent[V]) put(raw []byte, value V) {
	e := &r.entries[r.oldest]
	r.oldest = (r.oldest + 1) % len(r.entries)
	e.raw, e.value = append(e.raw[:0], raw...), value
}

// textBuffer collects the texts of one object and makes one string of them, of which each field
// gets a part: one allocation instead of a dozen. The texts of an object are freed together. (One
// string for a whole page would keep the page alive as long as any of its objects.)
type textBuffer struct {
	buffer []byte
	fields []textField
	pairs  []textPair // of the maps, one after the other
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

// textMap is a map to be built from pairs[from:to].
type textMap struct {
	into     *map[string]string
	from, to int
	memory   *recent[map[string]string]
	raw      []byte // the bytes that it was decoded from
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

// addPair adds an entry of a map. A value equal to the key's last one is shared.
func (t *textBuffer) addPair(key *interned, value []byte) {
	if key.last == string(value) {
		t.pairs = append(t.pairs, textPair{key: key, value: key.last})
		return
	}
	from := len(t.buffer)
	t.buffer = append(t.buffer, value...)
	t.pairs = append(t.pairs, textPair{key: key, from: from, to: len(t.buffer)})
}

// finish sets all fields and drops the object, so that an idle watch does not keep the last one
// alive.
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
