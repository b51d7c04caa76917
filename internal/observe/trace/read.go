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

// maxLine bounds the memory for one line: a state of a large run has some MB.
const maxLine = 64 << 20

// Read reads a recording, compressed or not. It calls begin with the header, and each for every
// line of a state or an event, without its end. The line is reused. Read stops at the first error
// of begin or each, and at a line that is neither a state nor an event, as after a crash; its error
// has the number of the line.
func Read(from io.Reader, begin func(Header) error, each func(line []byte, e *Event) error) error {
	buffered := bufio.NewReader(from)
	from = buffered
	if start, _ := buffered.Peek(2); IsCompressed(start) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("%w: its gzip header is damaged: %w", ErrNotARecording, err)
		}
		from = unzipped
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return fmt.Errorf("%w: line 1 cannot be read: %w", ErrNotARecording, err)
		}
		return fmt.Errorf("%w: it is empty", ErrNotARecording)
	}
	header, err := parseHeader(lines.Bytes())
	if err != nil {
		return err
	}
	if err := begin(header); err != nil {
		return err
	}
	for number := 2; lines.Scan(); number++ {
		e := Event{}
		err := json.Unmarshal(lines.Bytes(), &e)
		if err == nil && e.State == nil && (e.Seq == 0 || e.Name == "") {
			err = errors.New("s or e is missing")
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := each(lines.Bytes(), &e); err != nil {
			return err
		}
	}
	return lines.Err()
}

func parseHeader(line []byte) (Header, error) {
	var header Header
	if err := json.Unmarshal(line, &header); err != nil || !strings.HasPrefix(header.Schema, schemaName) {
		return header, fmt.Errorf("%w: line 1 is %s", ErrNotARecording,
			strconv.Quote(string(line[:min(len(line), 60)])))
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
