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

// OutlivePipes keeps a broken pipe from ending the program at its next line, which may be in the middle of its work: the
// writer gets an error instead. The signal is caught, not ignored, because exec plugins would inherit a signal that is
// ignored. It also comes for broken network connections, so it says nothing by itself.
func OutlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// WantsColor reports whether w is a terminal whose user has not asked for plain text (https://no-color.org).
func WantsColor(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
