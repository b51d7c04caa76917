package faults

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// order is the parsed text of a fault.
type order struct {
	kind    Kind
	options []setting
}

type setting struct{ name, value string }

func (o order) value(name string) (string, bool) {
	for _, s := range o.options {
		if s.name == name {
			return s.value, true
		}
	}
	return "", false
}

// text returns the value of an option, or otherwise.
func (o order) text(name, otherwise string) string {
	if value, there := o.value(name); there {
		return value
	}
	return otherwise
}

// parse parses the text of a fault:
//
//	fault  = kind [ ":" option { "," option } ]
//	option = name "=" value
//	value  = text without comma and quote, or a text in double quotes as in Go
//
// Spaces around names and unquoted values are ignored. The values are not validated.
func parse(text string) (order, error) {
	name, rest, hasOptions := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	kind, known := kindNamed(name)
	switch {
	case name == "":
		return order{}, &SyntaxError{text, "must start with a kind of fault: " + kindNames()}
	case !known:
		return order{}, &SyntaxError{text, "unknown kind " + name + "; the kinds are " + kindNames()}
	}
	o := order{kind: kind}
	for hasOptions {
		var s setting
		var problem string
		if s, rest, hasOptions, problem = parseSetting(rest); problem != "" {
			return order{}, &SyntaxError{text, problem}
		}
		if !slices.Contains(kind.Options, s.name) {
			problem = name + " has no option " + s.name + "; its options are " + strings.Join(kind.Options, ", ")
			return order{}, &SyntaxError{text, problem}
		}
		if _, twice := o.value(s.name); twice {
			return order{}, &SyntaxError{text, "duplicate option " + s.name}
		}
		o.options = append(o.options, s)
	}
	return o, nil
}

// parseSetting parses one option and reports whether another must follow.
func parseSetting(text string) (s setting, rest string, more bool, problem string) {
	equals := strings.IndexAny(text, "=,")
	if equals < 0 || text[equals] == ',' {
		word, _, _ := strings.Cut(text, ",")
		return s, "", false, "options after the colon must be name=value, separated by commas, not " + printable(word)
	}
	s.name = strings.TrimSpace(text[:equals])
	text = strings.TrimLeft(text[equals+1:], " ")
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return s, "", false, "the value of " + s.name + " is not a quoted text"
		}
		s.value, _ = strconv.Unquote(quoted)
		text = text[len(quoted):]
	} else {
		comma := strings.IndexByte(text, ',')
		if comma < 0 {
			comma = len(text)
		}
		s.value, text = strings.TrimSpace(text[:comma]), text[comma:]
	}
	switch {
	case s.value == "":
		return s, "", false, "the option " + printable(s.name) + " has no value"
	case strings.ContainsFunc(s.value, unicode.IsControl):
		return s, "", false, "the value of " + printable(s.name) + " has control characters"
	}
	text = strings.TrimLeft(text, " ")
	if text == "" {
		return s, "", false, ""
	}
	if text[0] != ',' {
		return s, "", false, "the value of " + printable(s.name) + " must be followed by a comma or the end"
	}
	return s, text[1:], true, ""
}

// SyntaxError reports an invalid order.
type SyntaxError struct {
	// Text is the whole order.
	Text string
	// Problem says what is wrong and what would be valid.
	Problem string
}

func (e *SyntaxError) Error() string { return "fault " + printable(e.Text) + ": " + e.Problem }

// printable quotes text with unprintable characters escaped, and limits its length.
func printable(text string) string { return strconv.Quote(text[:min(len(text), 200)]) }
