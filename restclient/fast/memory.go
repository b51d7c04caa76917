package fast

import (
	"bytes"

	"orrery/restclient/api"
)

// headMemory remembers what the heads of the objects of one list or watch have in common, so that they share it: whole
// maps of labels and lists of owners, names of keys, the namespace, managed fields. Everything in it is bounded.
//
// Sharing a map between objects is sound because objects that were read are not changed, least of all those of which only
// the head was read: they cannot be written back. Metadata says so.
type headMemory struct {
	labels      recent[map[string]string]
	annotations recent[map[string]string]
	owners      recent[[]api.OwnerReference]
	words       map[string]*word
}

// word is a string that comes again and again, and, if it is a key, the value that it had last: values of annotations
// often are the same for many objects, too.
type word struct{ text, value string }

// maxWords bounds what is remembered, and maxWord how long a word may be.
const (
	maxWords = 1024
	maxWord  = 256
)

// word returns the text as a string that all of its kind share. The text is not kept.
func (m *headMemory) word(text []byte) *word {
	if w := m.words[string(text)]; w != nil {
		return w
	}
	w := &word{text: string(text)}
	if len(m.words) < maxWords && len(text) <= maxWord {
		if m.words == nil {
			m.words = map[string]*word{}
		}
		m.words[w.text] = w
	}
	return w
}

// recent remembers the last few values together with the bytes that they were made of.
type recent[V any] struct {
	entries [4]struct {
		raw   []byte
		value V
	}
	oldest int
}

// at returns the value if data begins with the bytes of one, and their number; 0 if not. The bytes are those of an object
// or an array, whose end is clear from themselves.
func (r *recent[V]) at(data []byte) (value V, n int) {
	for i := range r.entries {
		if e := &r.entries[i]; len(e.raw) > 0 && bytes.HasPrefix(data, e.raw) {
			return e.value, len(e.raw)
		}
	}
	return value, 0
}

// put remembers a value in place of the oldest one.
func (r *recent[V]) put(raw []byte, value V) {
	e := &r.entries[r.oldest]
	r.oldest = (r.oldest + 1) % len(r.entries)
	e.raw, e.value = append(e.raw[:0], raw...), value
}

// same returns the value that was made of exactly these bytes.
func (r *recent[V]) same(raw []byte) (value V, known bool) {
	for i := range r.entries {
		if e := &r.entries[i]; len(e.raw) > 0 && bytes.Equal(raw, e.raw) {
			return e.value, true
		}
	}
	return value, false
}

// headText collects the texts of one object that are its own, and makes one string of them in the end, of which each gets
// its part. One allocation in place of a dozen; and as an object's texts live and die together, it keeps nothing alive
// that would not be alive without it. (One string for the texts of a page would: the whole page, for as long as a single
// object of it is in the store.)
type headText struct {
	buffer []byte
	parts  []textPart
	pairs  []textPair // of the maps, all of them one after the other
	maps   []textMap
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
	t.reset()
}
