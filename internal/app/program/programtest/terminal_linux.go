package programtest

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Terminal returns both ends of a pseudo-terminal. A program has inside. What it writes can be read
// from outside, and what is written to outside is typed.
func Terminal(t *testing.T, columns uint16) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = outside.Close() })
	var number, unlock uint32
	control(t, outside, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(t, outside, syscall.TIOCGPTN, unsafe.Pointer(&number))
	control(t, outside, syscall.TIOCSWINSZ, unsafe.Pointer(&struct{ rows, columns, x, y uint16 }{24, columns, 0, 0}))
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = inside.Close() })
	return outside, inside
}

func control(t *testing.T, file *os.File, request uintptr, argument unsafe.Pointer) {
	t.Helper()
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(argument))
	require.Zero(t, errno)
}
