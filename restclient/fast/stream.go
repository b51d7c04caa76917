package fast

import (
	"io"

	"orrery/restclient"
)

// stream splits a body into JSON values and holds only one value. It finds the end of a value by
// counting brackets outside strings; the reader of the value checks its syntax.
//
// The returned slices point into its buffer: they are valid until the next call.
type stream struct {
	r     io.Reader
	limit int    // greatest size of one value, in bytes
	what  string // what a value is called in errors

	buf      []byte
	at       cursor // used by parse and one; a field saves an allocation
	pos, end int    // buf[pos:end] has arrived and is not consumed
	before   int64  // bytes consumed before buf[0]
	filled   bool   // the last read filled buf to its end
	err      error  // last error of r.Read; returned when buf is used up
}

// A buffer grows while more data is available than it holds. So a large list is read in large
// pieces, and an idle watch, of which a program may have many, keeps a small buffer.
const (
	firstBuffer  = 4 << 10
	largeBuffer  = 256 << 10 // for speed; larger only for a single larger value
	spaceForRead = 512
)

func newStream(r io.Reader, limit int, what string) *stream {
	return &stream{r: r, limit: limit, what: what}
}

// offset is the number of bytes consumed so far.
func (s *stream) offset() int64 { return s.before + int64(s.pos) }

// peek returns the next byte that is not white space, without consuming it. It returns io.EOF at
// the end of the body.
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

// maxToken limits the bytes between two values: names of fields, white space.
const maxToken = 64 << 10

// parse calls read with the buffered bytes, and again with more as long as read returns errShort.
// It is for a few bytes between two values.
func (s *stream) parse(read func(*cursor) error) error {
	for {
		s.at = cursor{data: s.buf[s.pos:s.end]}
		err := read(&s.at)
		if err == nil {
			s.pos += s.at.pos
		}
		if err != errShort {
			return err
		}
		if len(s.at.data) > min(s.limit, maxToken) {
			return s.tooLarge()
		}
		if err := s.more(); err != nil {
			return midway(err)
		}
	}
}

// one calls read with the next value and returns its size. If the buffer does not hold the whole
// value, its end is found first.
func (s *stream) one(read func(*cursor) error) (size int, err error) {
	if _, err := s.peek(); err != nil {
		return 0, midway(err)
	}
	s.at = cursor{data: s.buf[s.pos:s.end]}
	if err = read(&s.at); err != errShort {
		if s.at.pos > s.limit {
			return 0, s.tooLarge()
		}
		s.pos += s.at.pos
		return s.at.pos, err
	}
	raw, err := s.value()
	if err != nil {
		return 0, err
	}
	s.at = cursor{data: raw}
	if err = read(&s.at); err == errShort {
		err = io.ErrUnexpectedEOF
	}
	return len(raw), err
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
			return nil, s.tooLarge()
		}
		if done {
			break
		}
		if err := s.more(); err != nil {
			if err == io.EOF && b.complete() {
				break // the end of the body ends a number
			}
			return nil, midway(err)
		}
	}
	if n == 0 {
		return nil, &syntaxError{want: "a value", got: s.buf[s.pos], offset: s.offset()}
	}
	raw := s.buf[s.pos : s.pos+n]
	s.pos += n
	return raw, nil
}

// finish checks that only white space follows, so that the connection can be reused.
func (s *stream) finish() error {
	switch c, err := s.peek(); err {
	case nil:
		return &syntaxError{want: "the end", got: c, offset: s.offset()}
	case io.EOF:
		return nil
	default:
		return err
	}
}

// more reads more bytes. buf[pos:end] is kept, but may move. It never returns 0 bytes without an
// error.
func (s *stream) more() error {
	if s.err != nil {
		return s.err
	}
	s.makeRoom()
	for {
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

func (s *stream) tooLarge() error { return &restclient.TooLargeError{What: s.what, Limit: s.limit} }

// midway converts io.EOF inside a value to io.ErrUnexpectedEOF.
func midway(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
