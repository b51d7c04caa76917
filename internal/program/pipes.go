package program

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// NewLostReader returns a writer to w that calls lost, once, when w is a pipe whose reader has gone: "head" that has seen
// enough, or "tee" that the same Ctrl-C has ended. From then on it accepts everything and writes nothing.
// See [OutlivePipes].
func NewLostReader(w io.Writer, lost func()) io.Writer {
	return &lostReader{Writer: w, lost: sync.OnceFunc(lost)}
}

type lostReader struct {
	io.Writer
	lost func()
}

func (w *lostReader) Write(line []byte) (int, error) {
	n, err := w.Writer.Write(line)
	if errors.Is(err, syscall.EPIPE) {
		w.lost()
		return len(line), nil
	}
	return n, err
}

// Output is a writer that remembers the first failure, for callers that print and do not look. It may be used by several goroutines.
type Output struct {
	out    io.Writer
	failed func()

	mu  sync.Mutex
	err error // guarded by mu
}

// NewOutput returns an output to out. It calls failed, once, when something cannot be written: a disk is full, say. A reader
// that has gone is no failure to an out that [NewLostReader] made.
func NewOutput(out io.Writer, failed func()) *Output {
	return &Output{out: out, failed: sync.OnceFunc(failed)}
}

// Write writes p, and returns the first failure from then on.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.out.Write(p)
	if err != nil {
		o.err = err
		o.failed()
	}
	return n, err
}

// Err returns the first failure.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// OutlivePipes keeps a broken pipe from ending the program at its next line, which may be in the middle of its work: the
// writer gets an error instead. The signal is caught, not ignored, because exec plugins would inherit a signal that is
// ignored. It also comes for broken network connections, so it says nothing by itself.
func OutlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// WantsColor reports whether w is a terminal whose user has not asked for plain text (https://no-color.org).
func WantsColor(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
