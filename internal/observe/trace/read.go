package trace

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrNotARecording is wrapped by the error of [Read] for a file of another format.
var ErrNotARecording = errors.New("not a recording")

// LineError is the error of [Read] for a line that is neither an event nor a state. What follows it
// is not read.
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

// maxLine bounds the memory for one line: a state with all its maps full has a few MB.
const maxLine = 64 << 20

// Read reads a recording, compressed or not, and calls each for every event. It stops when each
// returns an error, and returns it. Other errors are ErrNotARecording, *LineError, that of another
// version of the format, and those of from. The Event is reused; each must not keep it.
func Read(from io.Reader, each func(*Event) error) (Header, error) {
	return readLines(from, func(Header) {}, func(_ []byte, e *Event) error {
		if e.State != nil {
			return nil
		}
		return each(e)
	})
}

// readLines calls begin with the header, and each for every line after it. Both are reused.
func readLines(from io.Reader, begin func(Header), each func(line []byte, e *Event) error) (Header, error) {
	var header Header
	buffered := bufio.NewReaderSize(from, 64<<10)
	if start, _ := buffered.Peek(2); IsCompressed(start) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return header, fmt.Errorf("%w: its gzip header is damaged: %w", ErrNotARecording, err)
		}
		buffered = bufio.NewReaderSize(unzipped, 64<<10)
	}
	line, _, err := readLine(buffered, nil)
	if errors.Is(err, io.EOF) {
		return header, fmt.Errorf("%w: it is empty", ErrNotARecording)
	}
	if err != nil {
		return header, fmt.Errorf("%w: line 1 cannot be read: %w", ErrNotARecording, err)
	}
	if header, err = parseHeader(line); err != nil {
		return header, err
	}
	begin(header)
	for number := 2; ; number++ {
		var ended bool
		if line, ended, err = readLine(buffered, line[:0]); err == io.EOF {
			return header, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, bufio.ErrTooLong) {
			return header, err
		}
		e := Event{}
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err == nil && e.State == nil && (e.Seq == 0 || e.Name == "") {
			err = errors.New("s or e is missing")
		}
		if err != nil {
			return header, &LineError{Line: number, Err: err, Cut: !ended}
		}
		if err := each(line, &e); err != nil || !ended {
			return header, err
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
	if err := json.Unmarshal(line, &header); err != nil || !strings.HasPrefix(header.Schema, schemaName) {
		return header, fmt.Errorf("%w: line 1 is %s", ErrNotARecording, strconv.Quote(string(line[:min(len(line), 60)])))
	}
	version, err := strconv.Atoi(strings.TrimPrefix(header.Schema, schemaName))
	if err != nil || version < 1 {
		return header, fmt.Errorf("%w: its schema is %q", ErrNotARecording, header.Schema)
	}
	hint := ""
	switch {
	case version == schemaVersion:
		return header, nil
	case version < schemaVersion:
		hint = ": record the run again"
	case header.Build != "":
		hint = ": use version " + header.Build + " or a later one"
	}
	return header, fmt.Errorf("the recording has the format %s%d; this program reads only %s%s",
		schemaName, version, Schema, hint)
}
