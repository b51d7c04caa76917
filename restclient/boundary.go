package restclient

import "bytes"

// boundary finds the end of a JSON value that arrives in pieces.
type boundary struct {
	depth   int
	state   boundaryState
	escaped bool // the byte before was a backslash, inside a string
}

type boundaryState int

const (
	beforeValue boundaryState = iota
	inString
	inScalar // number, true, false, null: ended by what follows
	between  // inside an object or array, outside strings
)

// complete tells whether the end of the input would end the value.
func (b *boundary) complete() bool { return b.state == inScalar }

// scan looks at the next piece and returns how many of its bytes belong to the value, and whether it ends there.
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

// scanString looks for the quote that ends the string which data continues.
func (b *boundary) scanString(data []byte) (n int, closed bool) {
	i := 0
	if b.escaped && len(data) > 0 {
		b.escaped = false
		i = 1
	}
	// The position of the next quote is kept while escapes before it are skipped, so that no byte is searched twice.
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
