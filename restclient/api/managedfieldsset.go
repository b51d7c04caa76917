package api

import (
	"slices"
	"sort"
)

// ManagedFieldsSet makes the managed fields of many objects small. Those of the pods of a deployment are one text of a
// kilobyte or two, but for a few strings: the times at which somebody wrote, the pod's address. What such texts have in
// common is kept once, and an object has only what is its own:
//
//	100,000 pods, three managers each:   1.7 kB a pod as text,   0.1 kB a pod in a set
//
// That is quick as well: to compare with what is expected is faster than to look for the end of an unknown text.
//
// The set remembers the forms of text that came last, a few dozen. What it has handed out does not depend on it. The zero
// value is ready to use, by one goroutine.
type ManagedFieldsSet struct {
	forms []*knownForm // the one that was used last is the first
	own   []byte       // scratch
}

// knownForm is a form, and how often it was met.
type knownForm struct {
	*form
	uses int
}

const (
	maxForms = 32
	// settled is how many texts of one form have to come in before a difference elsewhere is taken for the beginning of
	// something else (the pods of the next deployment, with other names of containers) rather than for one more thing
	// that is each object's own.
	settled = 16
)

// Match looks whether data begins with a text that the set knows the form of. The text may be part of a larger one: where a
// JSON array ends is clear from itself. own is what is the object's own, valid until the next call; once it has become a
// string, perhaps as part of a larger one, [ManagedFieldsForm.With] makes the managed fields of it. form is nil if nothing
// was found; then the text is one for Learn.
func (s *ManagedFieldsSet) Match(data []byte) (form *ManagedFieldsForm, own []byte, length int) {
	for i, known := range s.forms {
		filled, n := known.read(s.own[:0], data)
		s.own = filled[:0]
		if n == 0 {
			continue
		}
		known.uses++
		if i > 0 {
			copy(s.forms[1:i+1], s.forms[:i])
			s.forms[0] = known
		}
		return (*ManagedFieldsForm)(known.form), filled, n
	}
	return nil, nil, 0
}

// ManagedFieldsForm is what managed fields of several objects have in common.
type ManagedFieldsForm form

// With returns the managed fields of this form with the object's own part.
func (f *ManagedFieldsForm) With(own string) ManagedFields {
	return ManagedFields{form: (*form)(f), own: own}
}

// Learn adds a text that was not found, one whole JSON array, so that others like it will be. The object that it came with
// is best kept apart ([NewManagedFields]): nobody knows yet whether there are others.
func (s *ManagedFieldsSet) Learn(text []byte) {
	learned := s.derive(text)
	if learned == nil {
		base := string(text)
		learned = newForm(base, textsIn(base), nil)
	}
	if len(s.forms) < maxForms {
		s.forms = append(s.forms, nil)
	}
	copy(s.forms[1:], s.forms)
	s.forms[0] = &knownForm{form: learned}
}

// derive returns a form for the text that is made from one that differs from it by the content of strings only.
func (s *ManagedFieldsSet) derive(text []byte) *form {
	for i, known := range s.forms {
		different, ok := known.compare(text)
		if !ok {
			continue
		}
		if known.uses >= settled {
			base := string(text)
			return newForm(base, textsIn(base), known.holes)
		}
		holes := append(slices.Clone(known.holes), different...)
		slices.Sort(holes)
		holes = slices.Compact(holes)
		if len(holes) > maxHoles {
			continue
		}
		s.forms = slices.Delete(s.forms, i, i+1) // the new one has all that this one has
		return newForm(known.base, known.texts, holes)
	}
	return nil
}

// compare tells whether the text is the base of the form but for the content of strings, and which those are.
func (f *form) compare(text []byte) (different []int, ok bool) {
	i, j := 0, 0
	for {
		common := commonPrefix(f.base[i:], text[j:])
		i, j = i+common, j+common
		if i == len(f.base) || j == len(text) {
			return different, i == len(f.base) && j == len(text)
		}
		// The first string that ends here or later is the one, if it begins here or earlier.
		at := sort.Search(len(f.texts), func(n int) bool { return f.texts[n].to >= i })
		if at == len(f.texts) || f.texts[at].from > i {
			return nil, false
		}
		j -= i - f.texts[at].from
		length := endOfText(text[j:])
		if length < 0 || len(different) == maxHoles {
			return nil, false
		}
		different = append(different, at)
		i, j = f.texts[at].to, j+length
	}
}

func commonPrefix(a string, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
