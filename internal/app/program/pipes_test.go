package program

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

type failingWriter struct{ err error }

func (w *failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestOutputRemembersTheFirstFailure(t *testing.T) {
	failures := 0
	failing := &failingWriter{}
	out := NewOutput(NewLostReader(failing, func() {}), func() { failures++ })
	failing.err = syscall.EPIPE
	_, err := out.Write([]byte("x"))
	assert.NoError(t, err)
	assert.NoError(t, out.Err(), "a closed reader is not an error")
	for _, why := range []error{syscall.ENOSPC, syscall.EIO} {
		failing.err = why
		_, err := out.Write([]byte("x"))
		assert.ErrorIs(t, err, syscall.ENOSPC)
	}
	assert.ErrorIs(t, out.Err(), syscall.ENOSPC)
	assert.Equal(t, 1, failures)
}

func TestLostReaderPassesOtherErrorsOn(t *testing.T) {
	lost := 0
	failing := &failingWriter{}
	w := NewLostReader(failing, func() { lost++ })
	failing.err = syscall.ENOSPC
	_, err := w.Write([]byte("x"))
	assert.ErrorIs(t, err, syscall.ENOSPC)
	assert.Zero(t, lost, "a full disk does not stop the program")
	failing.err = &os.PathError{Op: "write", Err: syscall.EPIPE}
	for range 2 {
		n, err := w.Write([]byte("xyz"))
		assert.NoError(t, err)
		assert.Equal(t, 3, n)
	}
	assert.Equal(t, 1, lost)
}
