package meta

import (
	"fmt"
	"slices"
	"strings"
)

// parseRequirements parses a label selector:
//
//	selector    = [ requirement { "," requirement } ]
//	requirement = "!" key | key [ operator value | ("in"|"notin") "(" [ value { "," value } ] ")" ]
func parseRequirements(text string) ([]LabelRequirement, error) {
	lexer := &lexer{rest: text}
	first := lexer.peek()
	if first.kind == endOfString {
		return nil, nil
	}
	if !first.startsRequirement() {
		return nil, fmt.Errorf("found '%s', expected: !, identifier, or 'end of string'", first.text)
	}
	var requirements []LabelRequirement
	for {
		requirement, err := parseRequirement(lexer)
		if err != nil {
			return nil, fmt.Errorf("unable to parse requirement: %w", err)
		}
		requirements = append(requirements, requirement)
		switch separator := lexer.next(); {
		case separator.kind == endOfString:
			return requirements, nil
		case !separator.is(","):
			return nil, fmt.Errorf("found '%s', expected: ',' or 'end of string'", separator.text)
		}
		if following := lexer.peek(); !following.startsRequirement() {
			return nil, fmt.Errorf("found '%s', expected: identifier after ','", following.text)
		}
	}
}

func parseRequirement(lexer *lexer) (LabelRequirement, error) {
	operator := Exists
	key := lexer.next()
	if key.is("!") {
		operator = DoesNotExist
		key = lexer.next()
	}
	if key.kind != identifier {
		return LabelRequirement{}, fmt.Errorf("found '%s', expected: identifier", key.text)
	}
	if err := checkKey(key.text); err != nil {
		return LabelRequirement{}, err
	}
	following := lexer.peek()
	if operator == DoesNotExist || following.kind == endOfString || following.is(",") {
		return LabelRequirement{Key: key.text, Operator: operator}, nil
	}
	operator, err := parseOperator(lexer)
	if err != nil {
		return LabelRequirement{}, err
	}
	var values []string
	if operator == In || operator == NotIn {
		values, err = parseValues(lexer)
	} else {
		values, err = parseExactValue(lexer)
	}
	if err != nil {
		return LabelRequirement{}, err
	}
	slices.Sort(values)
	requirement := LabelRequirement{Key: key.text, Operator: operator, Values: slices.Compact(values)}
	return requirement, requirement.check()
}

var operators = map[string]Operator{
	"=": Equals, "==": Equals, "!=": NotEquals, ">": GreaterThan, "<": LessThan, "in": In, "notin": NotIn,
}

func parseOperator(lexer *lexer) (Operator, error) {
	t := lexer.nextOperator()
	operator, ok := operators[t.text]
	if t.kind != punctuation || !ok {
		return "", fmt.Errorf("found '%s', expected: in, notin, =, ==, !=, gt, lt", t.text)
	}
	return operator, nil
}

// parseExactValue parses one value, which may be empty.
func parseExactValue(lexer *lexer) ([]string, error) {
	if following := lexer.peek(); following.kind == endOfString || following.is(",") {
		return []string{""}, nil
	}
	value := lexer.next()
	if value.kind != identifier {
		return nil, fmt.Errorf("found '%s', expected: identifier", value.text)
	}
	return []string{value.text}, nil
}

// parseValues parses a list in parentheses, whose values may be empty.
func parseValues(lexer *lexer) ([]string, error) {
	if open := lexer.next(); !open.is("(") {
		return nil, fmt.Errorf("found '%s' expected: '('", open.text)
	}
	if first := lexer.peek(); first.kind != identifier && !first.is(",") && !first.is(")") {
		return nil, fmt.Errorf("found '%s', expected: ',', ')' or identifier", first.text)
	}
	var values []string
	for {
		switch following := lexer.peek(); {
		case following.kind == identifier:
			values = append(values, lexer.next().text)
		case following.is(",") || following.is(")"):
			values = append(values, "")
		default:
			return nil, fmt.Errorf("found '%s', expected: ',', or identifier", following.text)
		}
		switch separator := lexer.next(); {
		case separator.is(")"):
			return values, nil
		case !separator.is(","):
			return nil, fmt.Errorf("found '%s', expected: ',' or ')'", separator.text)
		}
	}
}

// kind is the kind of a token.
type kind int

const (
	endOfString kind = iota
	identifier
	punctuation // a symbol, or in and notin where an operator is expected
)

// token is a token of a selector. The text of the end is "".
type token struct {
	kind kind
	text string
}

func (t token) is(symbol string) bool { return t.kind == punctuation && t.text == symbol }

// startsRequirement reports whether a requirement may start with the token.
func (t token) startsRequirement() bool { return t.kind == identifier || t.is("!") }

// symbols are tried in this order, longest first.
var symbols = []string{"==", "!=", "=", "!", "(", ")", ",", ">", "<"}

const (
	whitespace = " \t\r\n"
	special    = "=!(),><"
)

// lexer splits a selector into tokens. It never fails: everything except symbols and whitespace is
// an identifier.
type lexer struct {
	rest string
}

// peek returns the next token without consuming it.
func (l *lexer) peek() token {
	peeked := *l
	return peeked.next()
}

// next consumes a token.
func (l *lexer) next() token {
	l.rest = strings.TrimLeft(l.rest, whitespace)
	if l.rest == "" {
		return token{}
	}
	for _, symbol := range symbols {
		if rest, ok := strings.CutPrefix(l.rest, symbol); ok {
			l.rest = rest
			return token{punctuation, symbol}
		}
	}
	end := strings.IndexAny(l.rest, whitespace+special)
	if end < 0 {
		end = len(l.rest)
	}
	word := l.rest[:end]
	l.rest = l.rest[end:]
	return token{identifier, word}
}

// nextOperator consumes a token where in and notin are operators.
func (l *lexer) nextOperator() token {
	t := l.next()
	if t.text == string(In) || t.text == string(NotIn) {
		t.kind = punctuation
	}
	return t
}
