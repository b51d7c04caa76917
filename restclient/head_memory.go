package restclient

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
	managed     api.ManagedFieldsSet
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
