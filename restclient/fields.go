package restclient

import "google.golang.org/protobuf/encoding/protowire"

// fields walks over the fields of a message:
//
//	f := fields{rest: message}
//	for f.next() {
//		switch f.number { ... f.value ... f.n }
//	}
//	return f.err
type fields struct {
	// number, and the bytes of a field that has bytes or the value of one that is a number.
	number protowire.Number
	value  []byte
	n      uint64

	rest []byte // not walked over yet
	err  error  // why next said that there are no more, if not because there are none
}

// next moves to the next field, and tells whether there is one.
func (f *fields) next() bool {
	// The common case first: a tag and a length of one byte each.
	if len(f.rest) >= 2 && f.rest[0] < 0x80 && f.rest[0]&7 == byte(protowire.BytesType) && f.rest[0] >= 1<<3 && f.rest[1] < 0x80 {
		if end := 2 + int(f.rest[1]); end <= len(f.rest) {
			f.number, f.value, f.n = protowire.Number(f.rest[0]>>3), f.rest[2:end:end], 0
			f.rest = f.rest[end:]
			return true
		}
	}
	return f.nextOfAnyKind()
}

func (f *fields) nextOfAnyKind() bool {
	if len(f.rest) == 0 {
		return false
	}
	number, kind, size := protowire.ConsumeTag(f.rest)
	if size < 0 {
		f.err = protowire.ParseError(size)
		return false
	}
	rest := f.rest[size:]
	f.number, f.value, f.n = number, nil, 0
	switch kind {
	case protowire.BytesType:
		f.value, size = protowire.ConsumeBytes(rest)
	case protowire.VarintType:
		f.n, size = protowire.ConsumeVarint(rest)
	default:
		size = protowire.ConsumeFieldValue(number, kind, rest)
	}
	if size < 0 {
		f.err = protowire.ParseError(size)
		return false
	}
	f.rest = rest[size:]
	return true
}

// row goes on to the last of the fields in a row that have the number of the current one, which is the first in before, and
// returns the bytes of all of them.
func (f *fields) row(before []byte) []byte {
	number := f.number
	for {
		rest := f.rest
		if !f.next() || f.number != number {
			f.rest, f.err = rest, nil // what is broken is found when it is its turn
			return before[:len(before)-len(rest)]
		}
	}
}
