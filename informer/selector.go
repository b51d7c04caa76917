package informer

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Selector picks objects by their labels. The zero value picks every object. A Selector is immutable and may be
// used from any goroutine.
//
// It is evaluated here, on objects that are in the store already; to have the server send fewer objects, put
// String() into ListOptions.LabelSelector of the list and watch requests.
type Selector struct {
	requirements []requirement // all have to hold; sorted by key
}

// operator is what a requirement asks of a label.
type operator string

const (
	opExists      operator = "exists"
	opNotExists   operator = "!"
	opEquals      operator = "="
	opNotEquals   operator = "!="
	opIn          operator = "in"
	opNotIn       operator = "notin"
	opGreaterThan operator = ">"
	opLessThan    operator = "<"
)

// requirement is one term of a selector.
type requirement struct {
	key    string
	op     operator
	values []string // sorted; exactly one for = != > <
	bound  int64    // values[0] as a number, for > <
}

// SelectorFromSet returns the selector of the objects that carry all these labels.
func SelectorFromSet(labels map[string]string) Selector {
	var s Selector
	for key, value := range labels {
		s.requirements = append(s.requirements, requirement{key: key, op: opEquals, values: []string{value}})
	}
	s.sort()
	return s
}

// Empty reports whether the selector picks every object.
func (s Selector) Empty() bool { return len(s.requirements) == 0 }

// Matches reports whether an object with these labels is picked.
func (s Selector) Matches(labels map[string]string) bool {
	for i := range s.requirements {
		if !s.requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

func (r *requirement) matches(labels map[string]string) bool {
	value, has := labels[r.key]
	switch r.op {
	case opExists:
		return has
	case opNotExists:
		return !has
	case opEquals, opIn:
		return has && slices.Contains(r.values, value)
	case opNotEquals, opNotIn: // an object without the label is picked, as by the API server
		return !has || !slices.Contains(r.values, value)
	}
	number, err := strconv.ParseInt(value, 10, 64)
	if !has || err != nil {
		return false
	}
	if r.op == opGreaterThan {
		return number > r.bound
	}
	return number < r.bound
}

// String writes the selector in the syntax of [ParseSelector], terms sorted by key.
func (s Selector) String() string {
	terms := make([]string, len(s.requirements))
	for i, r := range s.requirements {
		terms[i] = r.String()
	}
	return strings.Join(terms, ",")
}

func (r requirement) String() string {
	switch r.op {
	case opExists:
		return r.key
	case opNotExists:
		return "!" + r.key
	case opIn, opNotIn:
		return fmt.Sprintf("%s %s (%s)", r.key, r.op, strings.Join(r.values, ","))
	}
	return r.key + string(r.op) + r.values[0]
}

func (s *Selector) sort() {
	for i := range s.requirements {
		sort.Strings(s.requirements[i].values)
	}
	sort.SliceStable(s.requirements, func(i, j int) bool { return s.requirements[i].key < s.requirements[j].key })
}
