package chaos

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
)

// framing is how the messages of a stream are told apart.
type framing struct {
	// read takes one message as it is on the wire: what is passed on or repeated is these bytes. Its error is io.EOF at the
	// end of the stream, and another one when the stream ends inside a message.
	read func(*bufio.Reader) (frame []byte, err error)
	// wrap makes a message of an event in JSON; nil where events are something else.
	wrap func(event []byte) []byte
}

// The framings.
var (
	lines    = framing{read: readLine, wrap: func(event []byte) []byte { return append(event, '\n') }}
	protobuf = framing{read: readProtobufFrame}
	socket   = framing{read: readSocketFrame, wrap: writeSocketFrame}
)

// The media type of watches in protobuf.
const protobufStream = "application/vnd.kubernetes.protobuf"

// framingOf tells how the messages of a watch are told apart.
func framingOf(contentType string) framing {
	if bytes.HasPrefix([]byte(contentType), []byte(protobufStream)) {
		return protobuf
	}
	return lines
}

// failure is the event by which a server says that something is wrong. Where it would be in protobuf it is nothing: then the
// watch just ends.
func (f framing) failure(code int) []byte {
	if f.wrap == nil {
		return nil
	}
	return f.wrap(fmt.Appendf(nil, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":"chaos: something is wrong","reason":"Chaos","code":%d}}`, code))
}

var versionOf = regexp.MustCompile(`"resourceVersion":"[0-9]+"`)

// withoutVersion takes the version out of an event, if it is in JSON.
func (f framing) withoutVersion(frame []byte) []byte {
	begin := bytes.Index(frame, []byte(`{"`)) // the head of a frame may have a { as well
	if f.wrap == nil || begin < 0 {
		return frame
	}
	return f.wrap(versionOf.ReplaceAll(bytes.TrimRight(frame[begin:], "\n"), []byte(`"resourceVersion":""`)))
}

// writeSocketFrame makes a frame of text, as servers do.
func writeSocketFrame(event []byte) []byte {
	head := []byte{0x81, byte(len(event))}
	switch {
	case len(event) >= 1<<16:
		head = binary.BigEndian.AppendUint64([]byte{0x81, 127}, uint64(len(event)))
	case len(event) >= 126:
		head = binary.BigEndian.AppendUint16([]byte{0x81, 126}, uint16(len(event)))
	}
	return append(head, event...)
}

// readLine reads a JSON event: kube-apiserver ends each with a line feed and writes no other.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return line, err
}

// readProtobufFrame reads four bytes with a length, and as many bytes.
func readProtobufFrame(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(4)
	if err != nil {
		return nil, atEnd(head, err)
	}
	return readExactly(r, 4+int(binary.BigEndian.Uint32(head)))
}

// readSocketFrame reads a frame of a websocket as servers send them, without a mask. Events are one frame each.
func readSocketFrame(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(2)
	if err != nil {
		return nil, atEnd(head, err)
	}
	size, length := 2, int(head[1]&0x7f)
	switch length {
	case 126:
		if head, err = r.Peek(4); err != nil {
			return nil, atEnd(head, err)
		}
		size, length = 4, int(binary.BigEndian.Uint16(head[2:]))
	case 127:
		if head, err = r.Peek(10); err != nil {
			return nil, atEnd(head, err)
		}
		size, length = 10, int(binary.BigEndian.Uint64(head[2:]))
	}
	return readExactly(r, size+length)
}

// isSocketControl tells pings, pongs and the like from data.
func isSocketControl(frame []byte) bool { return frame[0]&0x08 != 0 }

func readExactly(r *bufio.Reader, n int) ([]byte, error) {
	frame := make([]byte, n)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return frame, nil
}

func atEnd(read []byte, err error) error {
	if err == io.EOF && len(read) > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// The kinds of messages that matter here.
type frameKind int

const (
	otherFrame frameKind = iota
	changeFrame
	bookmarkFrame
	initialEventsEndFrame
)

// kindOf looks at the type of an event. It stands at the beginning, in JSON as in protobuf, and no name of an object is in
// capitals.
func kindOf(frame []byte) frameKind {
	head := frame[:min(len(frame), 64)]
	switch {
	case bytes.Contains(head, []byte("BOOKMARK")):
		if bytes.Contains(frame, []byte("k8s.io/initial-events-end")) {
			return initialEventsEndFrame
		}
		return bookmarkFrame
	case bytes.Contains(head, []byte("ADDED")), bytes.Contains(head, []byte("MODIFIED")), bytes.Contains(head, []byte("DELETED")):
		return changeFrame
	}
	return otherFrame
}
