package restclient

import (
	"io"

	"orrery/restclient/api"
)

// reader reads objects one after the other, and may remember what they have in common. It belongs to one goroutine. What
// it is given is valid during the call only.
type reader[T Object] interface {
	// readJSON reads the object that data begins with, and returns its length. If data ends too early the error is errShort.
	readJSON(data []byte) (object T, n int, err error)
	// readProtobuf reads the message of an object, of which the kind is known from elsewhere.
	readProtobuf(kind api.TypeMeta, message []byte) (T, error)
}

// nextObject reads the object that comes next in the stream. In most cases it is in the buffer as a whole and is read there;
// else its end is looked for first, which takes one more pass.
func nextObject[T Object](s *stream, codec *codec[T], reader reader[T]) (T, error) {
	var none T
	if reader == nil {
		raw, err := s.value()
		if err != nil {
			return none, err
		}
		return codec.decode(raw)
	}
	if _, err := s.peek(); err != nil {
		return none, midway(err)
	}
	object, n, err := reader.readJSON(s.buf[s.pos:s.end])
	if err == errShort {
		raw, err := s.value()
		if err != nil {
			return none, err
		}
		if object, _, err = reader.readJSON(raw); err == errShort {
			err = midway(io.EOF)
		}
		return object, err
	}
	if n > s.limit {
		return none, &TooLargeError{What: s.what, Limit: s.limit}
	}
	s.pos += n
	return object, err
}
