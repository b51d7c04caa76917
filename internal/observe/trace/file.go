package trace

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strings"
)

// DefaultLimit is how many bytes a recording may have, with the part before the last rotation.
const DefaultLimit = 256 << 20

// file is a recording on disk. At half of its limit FILE becomes FILE.1, and a new FILE begins with
// a whole state, so each opens by itself.
type file struct {
	name   string
	limit  int64
	header []byte

	file *os.File
	zip  *gzip.Writer // nil: not compressed
}

func createFile(name string, limit int64, header Header, state []byte) (*file, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	line, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, limit: limit, header: append(line, '\n')}
	return f, f.open(state)
}

// Create creates a file, or empties one, that only its owner can read: a recording names the
// objects of a cluster.
func Create(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() { // not a device
		_ = file.Chmod(0o600) // fails if somebody else owns it, and has let us write
	}
	return file, nil
}

// open begins a new file with the header and the line of a state.
func (f *file) open(state []byte) (err error) {
	if f.file, err = Create(f.name); err != nil {
		return err
	}
	if strings.HasSuffix(f.name, ".gz") {
		f.zip = gzip.NewWriter(f.file)
	}
	return f.write(append(f.header[:len(f.header):len(f.header)], state...))
}

// write writes whole lines at once, so that a crash loses no more than what was not written yet.
func (f *file) write(lines []byte) error {
	if f.zip == nil {
		_, err := f.file.Write(lines)
		return err
	}
	if _, err := f.zip.Write(lines); err != nil {
		return err
	}
	return f.zip.Flush()
}

// begin writes the line of a state. If the file has half of the limit, it becomes FILE.1, in place
// of an older one, and the line goes to a new one.
func (f *file) begin(state []byte) error {
	if info, err := f.file.Stat(); err != nil || info.Size() < f.limit/2 {
		return errors.Join(err, f.write(state))
	}
	if err := f.close(); err != nil {
		return err
	}
	if err := os.Rename(f.name, f.name+".1"); err != nil {
		return err
	}
	return f.open(state)
}

// close may be called on a nil file.
func (f *file) close() error {
	if f == nil || f.file == nil {
		return nil
	}
	var unzipped error
	if f.zip != nil {
		unzipped = f.zip.Close()
	}
	err := errors.Join(unzipped, f.file.Close())
	f.file, f.zip = nil, nil
	return err
}
