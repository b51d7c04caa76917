package selector

import "strings"

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
