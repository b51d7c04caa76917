package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
)

// ErrNotARecording is wrapped by the error of [Read] for a file of another format.
var ErrNotARecording = errors.New("not a recording")

// NewerSchemaError is the error of [Read] for a recording of a later version of the program.
type NewerSchemaError struct{ Schema, Build string }

func (e *NewerSchemaError) Error() string {
	text := fmt.Sprintf("the recording has the format %s; this program reads %s and older ones", e.Schema, Schema)
	if e.Build != "" {
		text += ": use version " + e.Build + " or a later one"
	}
	return text
}

// LineError is a line that is not an event.
type LineError struct {
	Line int // from 1
	Err  error
	// Cut reports that it is the last line and has no end: the process was killed while it wrote.
	Cut bool
}

func (e *LineError) Error() string {
	if e.Cut {
		return fmt.Sprintf("line %d is cut off", e.Line)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// maxLine bounds the memory for one line: a trace.state with all its lists full has a few MB.
const maxLine = 64 << 20

// Read reads a recording, compressed or not, and calls each for every event, or with a *LineError
// for a line that is none. It stops when each returns an error, and returns it. Other errors are
// ErrNotARecording, *NewerSchemaError, and those of from. The Event is reused; each must not keep
// it.
func Read(from io.Reader, each func(e *Event, broken *LineError) error) (Header, error) {
	return read(from, func(Header) {}, each)
}

// read is Read that calls begin with the header before the first line.
func read(from io.Reader, begin func(Header), each func(e *Event, broken *LineError) error) (Header, error) {
	var header Header
	buffered := bufio.NewReaderSize(from, 64<<10)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, gzipStart) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return header, fmt.Errorf("%w: its gzip header is damaged: %w", ErrNotARecording, err)
		}
		buffered = bufio.NewReaderSize(unzipped, 64<<10)
	}
	first, _, err := readLine(buffered, nil)
	if errors.Is(err, io.EOF) {
		return header, fmt.Errorf("%w: it is empty", ErrNotARecording)
	}
	if err != nil {
		return header, fmt.Errorf("%w: line 1 cannot be read: %w", ErrNotARecording, err)
	}
	if header, err = parseHeader(first); err != nil {
		return header, err
	}
	begin(header)
	var line []byte
	for number := 2; ; number++ {
		var ended bool
		if line, ended, err = readLine(buffered, line[:0]); err == io.EOF {
			return header, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, bufio.ErrTooLong) {
			return header, err
		}
		e := Event{}
		var broken *LineError
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err == nil && (e.Seq == 0 && e.Name != traceState || e.Name == "") { // a run begins with the state 0
			err = errors.New("s or e is missing")
		}
		if err != nil {
			broken = &LineError{Line: number, Err: err, Cut: !ended}
			e = Event{}
		}
		if err := each(&e, broken); err != nil {
			return header, err
		}
		if !ended {
			return header, nil
		}
	}
}

// readLine appends the next line without its end to line. ended reports whether it has one. At the
// end of the file the error is io.EOF, in the middle of a compressed block io.ErrUnexpectedEOF.
func readLine(from *bufio.Reader, line []byte) (_ []byte, ended bool, err error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], true, nil
		case err == bufio.ErrBufferFull && len(line) <= maxLine:
		case err == bufio.ErrBufferFull:
			return line, false, bufio.ErrTooLong
		case err == io.EOF && len(line) > 0:
			return line, false, nil
		default:
			return line, false, err
		}
	}
}

func parseHeader(line []byte) (Header, error) {
	var header Header
	name := "orrery.trace/"
	if err := json.Unmarshal(line, &header); err != nil || !strings.HasPrefix(header.Schema, name) {
		return header, fmt.Errorf("%w: line 1 is %s", ErrNotARecording, strconv.Quote(string(line[:min(len(line), 60)])))
	}
	version, err := strconv.Atoi(strings.TrimPrefix(header.Schema, name))
	if err != nil || version < 1 {
		return header, fmt.Errorf("%w: its schema is %q", ErrNotARecording, header.Schema)
	}
	if version > header.Version || version > 1 {
		return header, &NewerSchemaError{Schema: header.Schema, Build: header.Build}
	}
	return header, nil
}

// complete makes a state that was read from a file one that events can be applied to: no map is
// nil, and none has a nil entry.
func (s *State) complete() {
	fill(&s.Events)
	fill(&s.Lost)
	fill(&s.Lab.Held)
	fill(&s.Requests.Running)
	fill(&s.Requests.Watches)
	dropNil(&s.Requests.Running)
	dropNil(&s.Requests.Watches)
	dropNil(&s.Informers)
	dropNil(&s.Queues)
	dropNil(&s.Namespaces)
	for _, i := range s.Informers {
		fill(&i.Store.Objects)
		dropNil(&i.Handlers)
		if i.FIFO.Slots == nil {
			i.FIFO.Slots = []SlotState{}
		}
	}
	for _, q := range s.Queues {
		dropNil(&q.Processing)
		fill(&q.Delayed)
		fill(&q.Failures)
		if q.Queue == nil {
			q.Queue = []string{}
		}
		if q.Slots == nil {
			q.Slots = []string{}
		}
	}
	for _, n := range s.Namespaces {
		fill(&n.Phases)
		fill(&n.Remaining)
		fill(&n.Conditions)
	}
	if s.Requests.Recent == nil {
		s.Requests.Recent = []RequestState{}
	}
}

func fill[V any](m *map[string]V) {
	if *m == nil {
		*m = map[string]V{}
	}
}

func dropNil[V any](m *map[string]*V) {
	fill(m)
	maps.DeleteFunc(*m, func(_ string, v *V) bool { return v == nil })
}
