package faults

import (
	"strconv"
	"strings"
	"unicode"
)

// order is the text of a fault, taken apart.
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

// parse takes the text of a fault apart:
//
//	fault  = kind [ ":" option { "," option } ]
//	option = name "=" value
//	value  = text without comma and quote, or text in double quotes with \" and \\
//
// Spaces around names and bare values do not count. The values are not looked at yet.
func parse(text string) (order, error) {
	name, rest, hasOptions := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	kind, known := kindNamed(name)
	switch {
	case name == "":
		return order{}, &SyntaxError{text, "it begins with the kind of fault, one of " + kindNames()}
	case !known:
		return order{}, &SyntaxError{text, "there is no kind " + name + "; the kinds are " + kindNames()}
	}
	o := order{kind: kind}
	for hasOptions {
		var s setting
		var problem string
		if s, rest, hasOptions, problem = parseSetting(rest); problem != "" {
			return order{}, &SyntaxError{text, problem}
		}
		if !kind.takes(s.name) {
			return order{}, &SyntaxError{text, name + " takes no option " + s.name + "; its options are " + kind.optionNames()}
		}
		if _, twice := o.value(s.name); twice {
			return order{}, &SyntaxError{text, "the option " + s.name + " is there twice"}
		}
		o.options = append(o.options, s)
	}
	return o, nil
}

// parseSetting reads one option and tells whether another has to follow.
func parseSetting(text string) (s setting, rest string, more bool, problem string) {
	equals := strings.IndexAny(text, "=,")
	if equals < 0 || text[equals] == ',' {
		word, _, _ := strings.Cut(text, ",")
		return s, "", false, "after the colon come options as name=value, separated by commas; " + printable(word) + " is none"
	}
	s.name = strings.TrimSpace(text[:equals])
	text = strings.TrimLeft(text[equals+1:], " ")
	if strings.HasPrefix(text, `"`) {
		if s.value, text, problem = parseQuoted(text); problem != "" {
			return s, "", false, "the value of " + s.name + problem
		}
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
		return s, "", false, "the value of " + printable(s.name) + " has control characters in it"
	}
	text = strings.TrimLeft(text, " ")
	if text == "" {
		return s, "", false, ""
	}
	if text[0] != ',' {
		return s, "", false, "after the value of " + printable(s.name) + " comes a comma or the end"
	}
	return s, text[1:], true, ""
}

// parseQuoted reads a value in double quotes, which text begins with.
func parseQuoted(text string) (value, rest string, problem string) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], ""
		case '\\':
			i++
			if i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", "", ` has a \ in front of something else than " and \`
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", " has no closing quote"
}

// SyntaxError says what is wrong with the text of a fault, in words for whoever typed it.
type SyntaxError struct {
	// Text is the whole line.
	Text string
	// Problem says what is wrong with it and what would be right.
	Problem string
}

func (e *SyntaxError) Error() string { return "fault " + printable(e.Text) + ": " + e.Problem }

// printable returns text as it can be shown: in quotes, with what is no letter written out, and not without end.
func printable(text string) string {
	const enough = 200
	if runes := []rune(text); len(runes) > enough {
		text = string(runes[:enough]) + "…"
	}
	return strconv.Quote(text)
}
