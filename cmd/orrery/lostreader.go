package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// lostReader is a writer that notices that nobody reads what is written any more: the other end of a pipe has gone, as
// "head" does when it has seen enough, and "tee" when Ctrl-C ends it together with us. Unix would end the program at the
// next line, in the middle of a pass; lost is called once in place of that. See outlivePipes.
type lostReader struct {
	io.Writer
	lost func()

	once sync.Once
}

func (w *lostReader) Write(line []byte) (int, error) {
	n, err := w.Writer.Write(line)
	if errors.Is(err, syscall.EPIPE) {
		w.once.Do(w.lost)
		return len(line), nil
	}
	return n, err
}

// outlivePipes keeps a broken pipe from ending the program: whoever writes gets an error instead. The signal is caught and
// not ignored, because what is ignored would be so in exec plugins too. It comes for broken network connections as well,
// so the signal itself says nothing.
func outlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
