package patch

import (
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// The bounds of one JSON patch. Without them a short patch could keep the server busy for minutes (10,000 insertions at the
// front of a long list), or double the document with each operation.
const (
	deepest     = 10_000
	largestWork = 20_000_000 // values visited
	movedAtOnce = 16         // elements of a list that are moved in the time of a visit
	largestCopy = LargestResult
)

// editor is a document that a JSON patch changes, step by step. Every method returns false if the step is impossible.
type editor struct {
	root any
	work int // values visited so far
	bulk int // bytes copied so far
}

// place is where a JSON pointer leads: a key of an object or an index of a list.
type place struct {
	object map[string]any
	list   *[]any
	key    string
	depth  int
	// store puts a list that has grown or shrunk back where it came from.
	store func([]any)
}

// find follows a pointer to the last but one segment. As with kube-apiserver what stands before the first slash is ignored.
func (e *editor) find(pointer string) (place, bool) {
	segments := strings.Split(pointer, "/")
	if len(segments) < 2 || len(segments) > deepest || !e.charge(len(segments)) {
		return place{}, false
	}
	p := place{depth: len(segments)}
	p.object, _ = e.root.(map[string]any)
	if list, ok := e.root.([]any); ok {
		p.list, p.store = &list, func(changed []any) { e.root = changed }
	}
	for _, segment := range segments[1 : len(segments)-1] {
		p.key = unescape(segment)
		value, ok := p.get()
		if !ok || !p.enter(value) {
			return place{}, false
		}
	}
	p.key = unescape(segments[len(segments)-1])
	return p, p.object != nil || p.list != nil
}

// enter goes one level down, into the value at the place.
func (p *place) enter(value any) bool {
	outer := *p
	switch v := value.(type) {
	case map[string]any:
		p.object, p.list = v, nil
	case []any:
		p.object, p.list = nil, &v
		p.store = func(changed []any) { outer.set(changed) }
	default:
		return false
	}
	return true
}

// index reads the key as an index of the list; negative ones count from the end.
func (p *place) index(length int) (int, bool) {
	i, err := strconv.Atoi(p.key)
	if err != nil {
		return 0, false
	}
	if i < 0 {
		i += length
	}
	return i, i >= 0 && i < length
}

// get returns the value at the place. A key that an object does not have is null; an index that a list does not have is
// an error.
func (p *place) get() (any, bool) {
	if p.object != nil {
		return p.object[p.key], true
	}
	if p.list == nil {
		return nil, false
	}
	i, ok := p.index(len(*p.list))
	if !ok {
		return nil, false
	}
	return (*p.list)[i], true
}

// set puts a value at a place that is there.
func (p *place) set(value any) {
	if p.object != nil {
		p.object[p.key] = value
	} else if i, ok := p.index(len(*p.list)); ok {
		(*p.list)[i] = value
	}
}

func (e *editor) add(path string, value any) bool {
	p, ok := e.find(path)
	if !ok || !e.fits(p, value) {
		return false
	}
	if p.object != nil {
		p.object[p.key] = value
		return true
	}
	list := *p.list
	if p.key == "-" {
		p.store(append(list, value))
		return true
	}
	i, ok := p.index(len(list) + 1)
	if !ok || !e.charge((len(list)-i)/movedAtOnce) {
		return false
	}
	list = append(list, nil)
	copy(list[i+1:], list[i:])
	list[i] = value
	p.store(list)
	return true
}

func (e *editor) remove(path string) bool {
	p, ok := e.find(path)
	return ok && e.removeAt(p)
}

func (e *editor) removeAt(p place) bool {
	if p.object != nil {
		_, there := p.object[p.key]
		delete(p.object, p.key)
		return there
	}
	list := *p.list
	i, ok := p.index(len(list))
	if !ok || !e.charge((len(list)-i)/movedAtOnce) {
		return false
	}
	p.store(append(list[:i], list[i+1:]...))
	return true
}

func (e *editor) replace(path string, value any) bool {
	if path == "" {
		e.root = value
		return true
	}
	p, ok := e.find(path)
	if !ok || !e.fits(p, value) {
		return false
	}
	if _, ok := p.get(); !ok {
		return false
	}
	p.set(value)
	return true
}

func (e *editor) move(from, path string) bool {
	p, ok := e.find(from)
	if !ok {
		return false
	}
	value, ok := p.get()
	return ok && e.removeAt(p) && e.add(path, value)
}

func (e *editor) copy(from, path string) bool {
	p, ok := e.find(from)
	if !ok {
		return false
	}
	value, ok := p.get()
	if !ok || !e.spend(value) {
		return false
	}
	if e.bulk += size(value); e.bulk > largestCopy {
		return false
	}
	duplicate := (&api.Unstructured{Object: map[string]any{"": value}}).DeepCopy().Object[""]
	return e.add(path, duplicate)
}

// fits tells whether a value may be put at a place without nesting the document too deeply.
func (e *editor) fits(p place, value any) bool {
	visited, depth := measure(value, deepest)
	return e.charge(visited) && p.depth+depth <= deepest
}

// spend charges for a visit of every part of the values.
func (e *editor) spend(values ...any) bool {
	for _, value := range values {
		visited, _ := measure(value, deepest)
		if !e.charge(visited) {
			return false
		}
	}
	return true
}

func (e *editor) charge(visits int) bool {
	e.work += visits
	return e.work <= largestWork
}

// measure counts the parts of a value and its levels, down to the limit.
func measure(value any, limit int) (parts, depth int) {
	parts, depth = 1, 1
	if limit == 0 {
		return parts, depth
	}
	inside := func(inner any) {
		p, d := measure(inner, limit-1)
		parts, depth = parts+p, max(depth, d+1)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			inside(inner)
		}
	case []any:
		for _, inner := range v {
			inside(inner)
		}
	case string:
		parts += len(v) / 256
	}
	return parts, depth
}
