package bench_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// openTerminal returns both ends of a terminal of the kernel's: what is written to inside comes out of outside.
func openTerminal(t *testing.T, columns uint16) (outside, inside *os.File) {
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

// readUntil returns everything up to and including the text that a caller waits for.
func readUntil(t *testing.T, file *os.File, text string) string {
	t.Helper()
	var all strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(all.String(), text) {
		n, err := file.Read(buffer)
		require.NoError(t, err)
		all.Write(buffer[:n])
	}
	return all.String()
}

// On a terminal a line is rewritten, never as wide as that, and nothing of it is left in the end.
func TestATerminal(t *testing.T) {
	for name, test := range map[string]struct {
		columns uint16
		total   int64
		lasts   time.Duration
		want    string // what is drawn
	}{
		"wide":     {100, 10, 0, "50%"},
		"narrow":   {60, 10, 0, "50%"},
		"no width": {0, 10, 0, "filling the store"},
		"a time":   {80, 0, time.Hour, "0%"},
		"no end":   {80, 0, 0, "filling the store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", "xterm-256color")
			outside, inside := openTerminal(t, test.columns)
			meter := &bench.Meter{}
			meter.Begin("filling the store", "keys", test.lasts, test.total)
			meter.Count(5)
			progress := bench.ShowProgress(inside, meter)
			all := readUntil(t, outside, test.want)
			progress.Print("a word between")
			all += readUntil(t, outside, "a word between\r\n")
			meter.Begin("the next", "", 0, 0)
			all += readUntil(t, outside, "the next")
			progress.Stop()
			_, err := inside.WriteString("$ ")
			require.NoError(t, err)
			all += readUntil(t, outside, "$ ")
			assert.True(t, strings.HasSuffix(all, "\x1b[2K\r$ "), "%q", all)
			if test.columns == 0 {
				return
			}
			for _, line := range regexp.MustCompile(`[\r\n]`).Split(all, -1) {
				line = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`).ReplaceAllString(line, "")
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, " ")), int(test.columns), "%q", line)
			}
		})
	}
}
