package selector

import (
	"fmt"
	"slices"
	"strings"
)

// parseRequirements reads a whole selector:
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

// parseExactValue reads one value. A value that is missing is the empty one.
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

// parseValues reads a list in parentheses. Nothing between two separators is the empty value.
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

// kind is what a token is.
type kind int

const (
	endOfString kind = iota
	identifier
	punctuation // one of the symbols, or in and notin where an operator is expected
)

// token is a piece of a selector. The text of the end is "".
type token struct {
	kind kind
	text string
}

func (t token) is(symbol string) bool { return t.kind == punctuation && t.text == symbol }

// startsRequirement tells whether a requirement may begin with the token.
func (t token) startsRequirement() bool { return t.kind == identifier || t.is("!") }

// symbols are tried in this order: the longest first.
var symbols = []string{"==", "!=", "=", "!", "(", ")", ",", ">", "<"}

const (
	whitespace = " \t\r\n"
	special    = "=!(),><"
)

// lexer cuts a selector into tokens. It never fails: whatever is no symbol and no whitespace is an identifier, and whether
// that is a good name is another question.
type lexer struct {
	rest string
}

// peek returns the next token without consuming it.
func (l *lexer) peek() token {
	ahead := *l
	return ahead.next()
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

// nextOperator consumes a token where an operator is expected: there, in and notin are no names.
func (l *lexer) nextOperator() token {
	t := l.next()
	if t.text == string(In) || t.text == string(NotIn) {
		t.kind = punctuation
	}
	return t
}
