package fast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// boundary finds the end of a JSON value that arrives in pieces.
type boundary struct {
	depth   int
	state   boundaryState
	escaped bool // the last byte was a backslash, inside a string
}

type boundaryState int

const (
	beforeValue boundaryState = iota
	inString
	inScalar // number, true, false, null: ends before the next token
	between  // inside an object or array, outside strings
)

// complete reports whether the value would end at the end of the input.
func (b *boundary) complete() bool { return b.state == inScalar }

// scan scans the next piece. It returns how many of its bytes belong to the value and whether the
// value ends there.
func (b *boundary) scan(data []byte) (n int, done bool) {
	for i := 0; i < len(data); {
		if b.state == inString {
			end, closed := b.scanString(data[i:])
			i += end
			if !closed {
				return i, false
			}
			if b.state = between; b.depth == 0 {
				return i, true
			}
			continue
		}
		c := data[i]
		if b.state == inScalar {
			if endsScalar(c) {
				return i, true
			}
			i++
			continue
		}
		switch c {
		case '"':
			b.state = inString
		case '{', '[':
			b.state = between
			b.depth++
		case '}', ']':
			if b.depth == 0 {
				return i, true // not part of this value
			}
			if b.depth--; b.depth == 0 {
				return i + 1, true
			}
		case ',', ':':
			if b.depth == 0 {
				return i, true
			}
		default:
			if b.depth == 0 {
				b.state = inScalar
			}
		}
		i++
	}
	return len(data), false
}

// scanString finds the quote that ends the string which data continues.
func (b *boundary) scanString(data []byte) (n int, closed bool) {
	i := 0
	if b.escaped { // then there is data
		b.escaped = false
		i = 1
	}
	// The next quote is kept while escapes before it are skipped: no byte is searched twice.
	quote := -1
	for i < len(data) {
		if quote < i {
			if quote = bytes.IndexByte(data[i:], '"'); quote < 0 {
				quote = len(data)
			} else {
				quote += i
			}
		}
		slash := bytes.IndexByte(data[i:quote], '\\')
		switch {
		case slash < 0 && quote == len(data):
			return len(data), false
		case slash < 0:
			return quote + 1, true
		case i+slash+1 == len(data):
			b.escaped = true
			return len(data), false
		}
		i += slash + 2
	}
	return len(data), false
}

func endsScalar(c byte) bool {
	switch c {
	case ' ', '\n', '\r', '\t', ',', ']', '}', ':', '"', '{', '[':
		return true
	}
	return false
}

// errShort means that the value continues beyond the bytes in memory. It is not returned to callers
// of the package.
var errShort = errors.New("the value goes on")

// cursor parses JSON in memory. It returns errShort if the bytes end too early; the caller then
// reads more and starts again.
type cursor struct {
	data []byte
	pos  int
}

// next returns the next byte that is not white space, without consuming it.
func (c *cursor) next() (byte, error) {
	for ; c.pos < len(c.data); c.pos++ {
		switch b := c.data[c.pos]; b {
		case ' ', '\n', '\r', '\t':
		default:
			return b, nil
		}
	}
	return 0, errShort
}

// expect consumes the byte want, after white space.
func (c *cursor) expect(want byte) error {
	got, err := c.next()
	if err != nil {
		return err
	}
	if got != want {
		return c.unexpected(string(want), got)
	}
	c.pos++
	return nil
}

func (c *cursor) unexpected(want string, got byte) error {
	return &syntaxError{want: want, got: got, offset: int64(c.pos)}
}

// separator consumes the comma before an entry of an object or array, or its closing bracket.
func (c *cursor) separator(closing byte, first bool) (done bool, err error) {
	b, err := c.next()
	switch {
	case err != nil || first && b != closing:
		return false, err
	case b != closing && b != ',':
		return false, c.unexpected("',' or '"+string(closing)+"'", b)
	}
	c.pos++
	return b == closing, nil
}

// field moves to the next field of an object whose '{' has been consumed, and returns its name; ok
// is false when the '}' has been consumed instead.
func (c *cursor) field(first bool) (name []byte, ok bool, err error) {
	if done, err := c.separator('}', first); done || err != nil {
		return nil, false, err
	}
	name, err = c.text()
	if err == nil {
		err = c.expect(':')
	}
	return name, true, err
}

// text consumes a string and returns its text. The bytes are valid until the next call. A string
// without escapes or control characters, in valid UTF-8, is not copied; others are decoded by
// encoding/json.
func (c *cursor) text() ([]byte, error) {
	if err := c.expect('"'); err != nil {
		return nil, err
	}
	data, plain, high := c.data[c.pos:], true, byte(0)
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case b == '"':
			quoted := c.data[c.pos-1 : c.pos+i+1]
			c.pos += i + 1
			if plain && (high < utf8.RuneSelf || utf8.Valid(data[:i])) {
				return data[:i], nil
			}
			var text string
			err := json.Unmarshal(quoted, &text)
			return []byte(text), err
		case b == '\\':
			plain = false
			i++
		case b < ' ':
			plain = false
		default:
			high |= b
		}
	}
	return nil, errShort
}

// null consumes null, if it is next.
func (c *cursor) null() (bool, error) {
	if b, err := c.next(); err != nil || b != 'n' {
		return false, err
	}
	raw, err := c.value()
	if err == nil && string(raw) != "null" {
		err = errNotNull
	}
	return true, err
}

var errNotNull = errors.New("not null where an object should be")

// value consumes the next value of any type and returns its bytes. It only finds its end.
func (c *cursor) value() ([]byte, error) {
	got, err := c.next()
	if err != nil {
		return nil, err
	}
	var b boundary
	n, done := b.scan(c.data[c.pos:])
	if !done {
		return nil, errShort // a number at the end may continue
	}
	if n == 0 {
		return nil, c.unexpected("a value", got)
	}
	raw := c.data[c.pos : c.pos+n]
	c.pos += n
	return raw, nil
}

// syntaxError is a position at which a body is not JSON. It contains one byte of the body at most:
// bodies can hold secrets.
type syntaxError struct {
	want   string
	got    byte
	offset int64
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("%q at byte %d where %s should be", e.got, e.offset, e.want)
}
