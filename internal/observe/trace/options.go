package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Options are the flags of a command that records.
type Options struct {
	File  string
	Limit Size
}

// AddTo adds --record and --record-limit.
func (o *Options) AddTo(flags *pflag.FlagSet) {
	o.Limit = DefaultLimit
	flags.StringVar(&o.File, "record", "", "record what every gear does in this `file`, for lab replay; a name that ends in .gz compresses it; it has the names of objects but none of their data")
	flags.Var(&o.Limit, "record-limit", "the largest size of the recording; at half of it, the file is renamed to FILE.1 and a new one begins")
}

// Check reports the first invalid value.
func (o *Options) Check() error {
	switch {
	case o.Limit < smallestLimit:
		return fmt.Errorf("--record-limit must be at least %s, not %s", Size(smallestLimit), o.Limit)
	case holdsAnother(o.File):
		return fmt.Errorf("--record: the file %s exists, and is not a recording: choose another name, or remove it", o.File)
	}
	return nil
}

// holdsAnother reports whether there is a file of that name whose content is not a recording's.
func holdsAnother(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false // Start says what is wrong with it
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, len(recordingStart))
	n, _ := io.ReadFull(file, start)
	return n > 0 && string(start) != recordingStart && !bytes.HasPrefix(start, gzipStart)
}

const recordingStart = `{"h":`

var gzipStart = []byte{0x1f, 0x8b}

// smallestLimit leaves room for a state in each half.
const smallestLimit = 1 << 20

// Wanted reports whether there is anything to write.
func (o *Options) Wanted() bool { return o.File != "" }

// Config returns the configuration of a Recorder that writes these files.
func (o *Options) Config(header Header) Config {
	return Config{Header: header, File: o.File, Limit: int64(o.Limit)}
}

// Size is a number of bytes, as a flag: "256MiB".
type Size int64

var sizeUnits = []struct {
	name  string
	bytes Size
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String returns the size in the largest unit that divides it.
func (s Size) String() string {
	for _, unit := range sizeUnits {
		if s%unit.bytes == 0 && s != 0 {
			return strconv.FormatInt(int64(s/unit.bytes), 10) + unit.name
		}
	}
	return "0B"
}

// Set parses a size such as "64MiB", "1GiB" or "1048576".
func (s *Size) Set(text string) error {
	one := Size(1)
	for _, unit := range sizeUnits {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			text, one = number, unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || Size(n) > (1<<62)/one {
		return errors.New("a size is a number with KiB, MiB or GiB, such as 256MiB")
	}
	*s = Size(n) * one
	return nil
}

// Type returns the name of the flag's value in the help.
func (s *Size) Type() string { return "size" }
