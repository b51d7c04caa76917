package program

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"

	"orrery/internal/words"
)

// NewLostReader returns a writer to w that calls lost, once, when w is a pipe whose reader has
// gone: "head" after its lines, or "tee" after the same Ctrl-C. From then on it discards
// everything. See [OutlivePipes].
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

// Output is a writer that records its first error, for callers that ignore errors of printing. It
// is safe for concurrent use.
type Output struct {
	out    io.Writer
	failed func()

	mu  sync.Mutex
	err error // guarded by mu
}

// NewOutput returns a new output to out. It calls failed, once, when a write fails: a disk is full,
// say. A [NewLostReader] whose reader is gone does not count as a failure.
func NewOutput(out io.Writer, failed func()) *Output {
	return &Output{out: out, failed: sync.OnceFunc(failed)}
}

// Write writes p, and returns the first error from then on.
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

// Underlying returns the writer below an [Output] and a [words.Writer], to check for a terminal,
// and any other writer as it is.
func Underlying(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		w = o.out
	}
	if cleaning, ok := w.(*words.Writer); ok {
		w = cleaning.Underlying()
	}
	return w
}

// Err returns the first error.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// OutlivePipes makes writes to a broken pipe return an error; by default the program would end in
// the middle of its work. The signal is caught, not ignored, because exec plugins would inherit
// that. Broken network connections send it too, so the signal itself has no meaning.
func OutlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Width returns the width of the terminal that w is; 0 if it is none.
func Width(w io.Writer) int {
	file, ok := Underlying(w).(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// WantsColor reports whether w is a terminal whose user has not disabled color
// (https://no-color.org).
func WantsColor(w io.Writer) bool {
	file, ok := Underlying(w).(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
