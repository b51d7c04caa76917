package restclient

import (
	"errors"
	"unicode/utf8"
)

// errShort says that the bytes at hand end before the value does. It never leaves this package.
var errShort = errors.New("the value goes on")

// cursor reads JSON from bytes that are all there, and otherwise says errShort: then somebody has to fetch the rest, and
// the value is read again from its beginning. That makes one pass over the bytes, where cutting a value out of a stream
// first and reading it then makes two.
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

// field moves to the next field of an object whose '{' has been consumed, and returns its name as it is between the
// quotes; ok is false when the '}' has been consumed instead.
func (c *cursor) field(first bool) (name []byte, ok bool, err error) {
	b, err := c.next()
	switch {
	case err != nil:
		return nil, false, err
	case b == '}':
		c.pos++
		return nil, false, nil
	case !first && b != ',':
		return nil, false, c.unexpected("',' or '}'", b)
	case !first:
		c.pos++
	}
	name, _, err = c.text()
	if err == nil {
		err = c.expect(':')
	}
	return name, true, err
}

// text consumes a string and returns what is between its quotes. It is plain if it stands for itself: no escapes, no
// control characters, valid UTF-8.
func (c *cursor) text() (inner []byte, plain bool, err error) {
	if err := c.expect('"'); err != nil {
		return nil, false, err
	}
	data, plain, high := c.data[c.pos:], true, byte(0)
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case b == '"':
			c.pos += i + 1
			return data[:i], plain && (high < utf8.RuneSelf || utf8.Valid(data[:i])), nil
		case b == '\\':
			plain = false
			i++
		case b < ' ':
			plain = false
		default:
			high |= b
		}
	}
	return nil, false, errShort
}

// null consumes null, if that is what follows.
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

var errNotNull = errors.New("a word that is not null where an object should be")

// value consumes the next value, whatever it is, and returns its bytes. It only looks for the end.
func (c *cursor) value() ([]byte, error) {
	got, err := c.next()
	if err != nil {
		return nil, err
	}
	var b boundary
	n, done := b.scan(c.data[c.pos:])
	if !done {
		return nil, errShort // a number at the very end might go on as well
	}
	if n == 0 {
		return nil, c.unexpected("a value", got)
	}
	raw := c.data[c.pos : c.pos+n]
	c.pos += n
	return raw, nil
}
