package informer

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSelector reads a label selector as kubectl and the API server do: terms joined by commas, all of which
// have to hold.
//
//	app                    the label exists
//	!app                   it does not
//	app=web  app==web      it has the value (which may be empty)
//	app!=web               it does not have the value, or does not exist
//	app in (web, api)      it has one of the values
//	app notin (web, api)   it has none of them, or does not exist
//	replicas>3  replicas<3 it is a whole number above or below
//
// The empty text is the selector of everything. What cannot be read gives a [*SelectorError].
func ParseSelector(text string) (Selector, error) {
	p := selectorParser{text: text}
	var s Selector
	if p.skipSpace(); p.rest() == "" {
		return s, nil
	}
	for {
		r, err := p.term()
		if err != nil {
			return Selector{}, err
		}
		s.requirements = append(s.requirements, r)
		if p.skipSpace(); p.rest() == "" {
			s.sort()
			return s, nil
		}
		if !p.accept(",") {
			return Selector{}, p.fail("a comma or the end")
		}
	}
}

// SelectorError says where a label selector ceases to be one.
type SelectorError struct {
	Selector string
	Offset   int    // in bytes, from the beginning of Selector
	Want     string // what was expected there
}

func (e *SelectorError) Error() string {
	return fmt.Sprintf("label selector %q: want %s at %q", e.Selector, e.Want, e.Selector[e.Offset:])
}

// selectorParser reads a selector from left to right.
type selectorParser struct {
	text string
	at   int
}

func (p *selectorParser) rest() string { return p.text[p.at:] }

func (p *selectorParser) fail(want string) *SelectorError {
	return &SelectorError{Selector: p.text, Offset: p.at, Want: want}
}

func (p *selectorParser) skipSpace() {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t\r\n"))
}

// accept skips spaces and then token, if it is there.
func (p *selectorParser) accept(token string) bool {
	p.skipSpace()
	if !strings.HasPrefix(p.rest(), token) {
		return false
	}
	p.at += len(token)
	return true
}

// word reads up to a character that has a meaning.
func (p *selectorParser) word() string {
	p.skipSpace()
	end := strings.IndexAny(p.rest(), "=!<>(), \t\r\n")
	if end < 0 {
		end = len(p.rest())
	}
	word := p.rest()[:end]
	p.at += end
	return word
}

func (p *selectorParser) term() (requirement, error) {
	if p.accept("!") {
		key, err := p.key()
		return requirement{key: key, op: opNotExists}, err
	}
	key, err := p.key()
	if err != nil {
		return requirement{}, err
	}
	// The longer of two operators that begin alike comes first.
	for _, o := range []struct {
		token string
		op    operator
	}{{"==", opEquals}, {"=", opEquals}, {"!=", opNotEquals}, {">", opGreaterThan}, {"<", opLessThan}} {
		if p.accept(o.token) {
			return p.comparison(key, o.op)
		}
	}
	if p.skipSpace(); p.rest() == "" || p.rest()[0] == ',' {
		return requirement{key: key, op: opExists}, nil
	}
	return p.membership(key)
}

func (p *selectorParser) key() (string, error) {
	p.skipSpace()
	begin := p.at
	key := p.word()
	prefix, name, slashed := strings.Cut(key, "/")
	if !slashed {
		prefix, name = "", key
	}
	if !isQualifiedName(name) || slashed && !isDNSSubdomain(prefix) {
		p.at = begin
		return "", p.fail("a label key")
	}
	return key, nil
}

func (p *selectorParser) value() (string, error) {
	p.skipSpace()
	begin := p.at
	value := p.word()
	if value != "" && !isQualifiedName(value) {
		p.at = begin
		return "", p.fail("a label value")
	}
	return value, nil
}

func (p *selectorParser) comparison(key string, op operator) (requirement, error) {
	p.skipSpace()
	begin := p.at
	value, err := p.value()
	r := requirement{key: key, op: op, values: []string{value}}
	if err != nil || op == opEquals || op == opNotEquals {
		return r, err
	}
	if r.bound, err = strconv.ParseInt(value, 10, 64); err != nil {
		p.at = begin
		return r, p.fail("a whole number")
	}
	return r, nil
}

func (p *selectorParser) membership(key string) (requirement, error) {
	begin := p.at
	op := operator(p.word())
	if op != opIn && op != opNotIn {
		p.at = begin
		return requirement{}, p.fail("an operator")
	}
	if !p.accept("(") {
		return requirement{}, p.fail("an opening parenthesis")
	}
	r := requirement{key: key, op: op}
	for {
		value, err := p.value()
		if err != nil {
			return r, err
		}
		r.values = append(r.values, value)
		switch {
		case p.accept(","):
		case p.accept(")"):
			return r, nil
		default:
			return r, p.fail("a comma or a closing parenthesis")
		}
	}
}

// isQualifiedName: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit.
func isQualifiedName(s string) bool {
	if s == "" || len(s) > 63 || !isAlphanumeric(s[0]) || !isAlphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isDNSSubdomain: lower-case labels of letters, digits and '-', joined by dots, 253 characters at most.
func isDNSSubdomain(s string) bool {
	if s == "" || len(s) > 253 || s != strings.ToLower(s) || strings.Contains(s, "_") {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isQualifiedName(label) {
			return false
		}
	}
	return true
}
