package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

// Options are the flags of a command that records.
type Options struct {
	File string
	// Limit is the largest size of the recording, in MiB.
	Limit int
}

// AddTo adds --record and --record-limit.
func (o *Options) AddTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.File, "record", "",
		"record what every gear does in this `file`, for lab replay; a name that ends in .gz compresses it; it has "+
			"the names of objects but none of their data")
	flags.IntVar(&o.Limit, "record-limit", DefaultLimit>>20,
		"the largest size of the recording in `MiB`; at half of it, the file is renamed to FILE.1 and a new one begins")
}

// Check reports the first invalid value.
func (o *Options) Check() error {
	switch {
	case o.Limit < 1: // a file grows beyond half of it only if a state does
		return fmt.Errorf("--record-limit must be at least 1, not %d", o.Limit)
	case holdsAnother(o.File):
		return fmt.Errorf("--record: the file %s exists, and is not a recording: choose another name, or remove it",
			o.File)
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
	return n > 0 && string(start) != recordingStart && !IsCompressed(start)
}

const recordingStart = `{"h":`

// IsCompressed reports whether a recording that starts so is compressed.
func IsCompressed(start []byte) bool { return bytes.HasPrefix(start, []byte{0x1f, 0x8b}) }

// Wanted reports whether there is anything to write.
func (o *Options) Wanted() bool { return o.File != "" }

// Config returns the configuration of a Recorder that writes these files.
func (o *Options) Config(header Header) Config {
	return Config{Header: header, File: o.File, Limit: int64(o.Limit) << 20}
}
