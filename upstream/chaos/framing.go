package chaos

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
)

// framing delimits the messages of a stream.
type framing struct {
	// read reads one message with its framing. The error is io.EOF at the end of the stream, and
	// another one inside a message.
	read func(*bufio.Reader) (frame []byte, err error)
	// wrap makes a message from a JSON event; nil where events are not JSON.
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

// framingOf returns the framing of a watch.
func framingOf(contentType string) framing {
	if bytes.HasPrefix([]byte(contentType), []byte(protobufStream)) {
		return protobuf
	}
	return lines
}

// failure returns an ERROR event. In protobuf it returns nil, and the watch just ends.
func (f framing) failure(code int) []byte {
	if f.wrap == nil {
		return nil
	}
	return f.wrap(fmt.Appendf(nil, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":"chaos: something is wrong","reason":"Chaos","code":%d}}`, code))
}

var versionOf = regexp.MustCompile(`"resourceVersion":"[0-9]+"`)

// withoutVersion removes the resourceVersion from a JSON event.
func (f framing) withoutVersion(frame []byte) []byte {
	begin := bytes.Index(frame, []byte(`{"`)) // the frame's header may contain a { as well
	if f.wrap == nil || begin < 0 {
		return frame
	}
	return f.wrap(versionOf.ReplaceAll(bytes.TrimRight(frame[begin:], "\n"), []byte(`"resourceVersion":""`)))
}

// writeSocketFrame returns a text frame of a server.
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

// readLine reads a JSON event, which kube-apiserver ends with its only line feed.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return line, err
}

// readProtobufFrame reads a length of four bytes, and as many bytes.
func readProtobufFrame(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(4)
	if err != nil {
		return nil, atEnd(head, err)
	}
	return readExactly(r, 4+int(binary.BigEndian.Uint32(head)))
}

// readSocketFrame reads an unmasked websocket frame of a server, which holds one event.
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

// isSocketControl reports whether the frame is a ping, a pong or the like.
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

// The relevant kinds of messages.
type frameKind int

const (
	otherFrame frameKind = iota
	changeFrame
	bookmarkFrame
)

// kindOf returns the kind by the event's type. It is at the beginning in JSON and protobuf, and no
// object's name is in capitals.
func kindOf(frame []byte) frameKind {
	head := frame[:min(len(frame), 64)]
	switch {
	case bytes.Contains(head, []byte("BOOKMARK")):
		if bytes.Contains(frame, []byte("k8s.io/initial-events-end")) {
			return otherFrame // without it a streaming list never ends
		}
		return bookmarkFrame
	case bytes.Contains(head, []byte("ADDED")), bytes.Contains(head, []byte("MODIFIED")), bytes.Contains(head, []byte("DELETED")):
		return changeFrame
	}
	return otherFrame
}
