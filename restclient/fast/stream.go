package fast

import (
	"bytes"
	"io"

	"orrery/restclient"
)

// stream cuts a body into JSON values without holding more of it than one value. It finds where a value ends by
// counting brackets outside strings; whether the value is well-formed is found out by whoever decodes it, so each byte
// is looked at once here.
//
// The slices that it returns are windows into its buffer: they are valid until the next call.
type stream struct {
	r     io.Reader
	limit int    // greatest size of one value
	what  string // what a value is called in errors

	buf      []byte
	pos, end int   // buf[pos:end] has arrived and is not consumed
	before   int64 // bytes consumed before buf[0]
	filled   bool  // the last read filled buf to its end
	err      error // what r.Read said last; reported when buf is used up
}

// A buffer grows while there is more to read than it holds, so that a large list is read in large pieces, and a watch on
// which nothing happens, of which a program may have many, keeps a small one.
const (
	firstBuffer  = 4 << 10
	largeBuffer  = 256 << 10 // it grows to this for speed; beyond that only if a single value is larger
	spaceForRead = 512
)

func newStream(r io.Reader, limit int, what string) *stream {
	return &stream{r: r, limit: limit, what: what}
}

// offset is the number of bytes consumed so far.
func (s *stream) offset() int64 { return s.before + int64(s.pos) }

// peek returns the next byte that is not white space, without consuming it. It returns io.EOF at the end of the body.
func (s *stream) peek() (byte, error) {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\n', '\r', '\t':
				s.pos++
			default:
				return c, nil
			}
		}
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

// expect consumes the byte c, after white space.
func (s *stream) expect(c byte) error {
	got, err := s.peek()
	if err != nil {
		return midway(err)
	}
	if got != c {
		return &syntaxError{want: string(c), got: got, offset: s.offset()}
	}
	s.pos++
	return nil
}

// key moves to the next field of an object whose '{' has been consumed, and returns its name; ok is false when the '}'
// has been consumed instead. The caller then consumes the field's value.
func (s *stream) key(first bool) (name []byte, ok bool, err error) {
	if done, err := s.separator('}', first); done || err != nil {
		return nil, false, err
	}
	if c, err := s.peek(); err != nil || c != '"' {
		return nil, false, s.unexpected("a field name", c, err)
	}
	raw, err := s.value()
	if err != nil {
		return nil, false, err
	}
	name = raw[1 : len(raw)-1]
	// Looking for the colon may move the buffer. Field names are few and short, so those that would get lost are copied.
	if s.pos == s.end || s.buf[s.pos] != ':' {
		name = bytes.Clone(name)
	}
	return name, true, s.expect(':')
}

// element moves to the next element of an array whose '[' has been consumed; it is false when the ']' has been consumed.
func (s *stream) element(first bool) (bool, error) {
	done, err := s.separator(']', first)
	return !done && err == nil, err
}

// separator consumes the comma before an entry, or the closing bracket.
func (s *stream) separator(closing byte, first bool) (done bool, err error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return false, midway(err)
	case c == closing:
		s.pos++
		return true, nil
	case first:
		return false, nil
	case c != ',':
		return false, s.unexpected("',' or '"+string(closing)+"'", c, nil)
	}
	s.pos++
	return false, nil
}

// value consumes the next value and returns its bytes.
func (s *stream) value() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, midway(err)
	}
	var b boundary
	n := 0
	for {
		taken, done := b.scan(s.buf[s.pos+n : s.end])
		if n += taken; n > s.limit {
			return nil, &restclient.TooLargeError{What: s.what, Limit: s.limit}
		}
		if done {
			break
		}
		if err := s.more(); err != nil {
			if err == io.EOF && b.complete() {
				break // a number at the very end of the body is ended by the end
			}
			return nil, midway(err)
		}
	}
	if n == 0 {
		return nil, s.unexpected("a value", s.buf[s.pos], nil)
	}
	raw := s.buf[s.pos : s.pos+n]
	s.pos += n
	return raw, nil
}

// finish makes sure that nothing but white space follows, and so reads the body to its end, which lets the connection be
// used again.
func (s *stream) finish() error {
	switch c, err := s.peek(); err {
	case nil:
		return s.unexpected("the end", c, nil)
	case io.EOF:
		return nil
	default:
		return err
	}
}

// more reads on. What is in buf[pos:end] is kept, though perhaps moved. It never returns 0 bytes without an error.
func (s *stream) more() error {
	if s.err != nil {
		return s.err
	}
	s.makeRoom()
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		s.filled = s.end == len(s.buf)
		s.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	s.err = io.ErrNoProgress
	return s.err
}

func (s *stream) makeRoom() {
	kept := s.end - s.pos
	size := len(s.buf)
	switch {
	case size == 0, kept == 0 && !s.filled && size > firstBuffer:
		size = firstBuffer
	case kept > size/2, s.filled && size < min(largeBuffer, 2*s.limit):
		size *= 2
	case size-s.end >= spaceForRead && kept > 0:
		return
	}
	into := s.buf
	if size != len(s.buf) {
		into = make([]byte, size)
	}
	copy(into, s.buf[s.pos:s.end])
	s.before, s.pos, s.end, s.buf = s.before+int64(s.pos), 0, kept, into
}

func (s *stream) unexpected(want string, got byte, err error) error {
	if err != nil {
		return midway(err)
	}
	return &syntaxError{want: want, got: got, offset: s.offset()}
}

// midway says that the body ended inside a value: only between values is io.EOF in order.
func midway(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
