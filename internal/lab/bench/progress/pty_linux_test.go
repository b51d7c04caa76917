package progress_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/progress"
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

// The zero Config has to find out by itself that this is a terminal, how wide it is and what its user wants.
func TestARealTerminal(t *testing.T) {
	for name, test := range map[string]struct {
		columns uint16
		env     map[string]string
		want    string // what is drawn
	}{
		"wide":     {80, nil, "\x1b[1mfilling the store\x1b[0m  \x1b[38;5;75m█████"},
		"narrow":   {30, nil, "\r\x1b[K\x1b[1mfilling the store\x1b[0m   50 %"},
		"no width": {0, map[string]string{"NO_COLOR": "1"}, "\r\x1b[Kfilling the store  ███████░░░░░░░   50 %  5 of 10 keys"},
		"plain":    {80, map[string]string{"NO_COLOR": "1", "LC_ALL": "C"}, "\r\x1b[Kfilling the store  #######.......   50 %  5 of 10 keys"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{"NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"} {
				t.Setenv(name, test.env[name])
			}
			t.Setenv("TERM", "xterm-256color")
			outside, inside := openTerminal(t, test.columns)
			meter := &bench.Meter{}
			meter.Begin("filling the store", "keys", 0, 10)
			meter.Count(5)
			display := progress.Start(inside, meter, progress.Config{})
			readUntil(t, outside, test.want)
			display.Stop()
			_, err := inside.WriteString("$ ")
			require.NoError(t, err)
			all := readUntil(t, outside, "$ ")
			assert.True(t, strings.HasSuffix(all, "\r\x1b[K$ "), "%q", all)
		})
	}
}

func TestARealTerminalThatIsDumb(t *testing.T) {
	t.Setenv("TERM", "dumb")
	outside, inside := openTerminal(t, 80)
	meter := &bench.Meter{}
	meter.Begin("filling the store", "keys", 0, 0)
	progress.Start(inside, meter, progress.Config{}).Stop()
	assert.Regexp(t, `^filling the store: \d+ ms\r\n$`, readUntil(t, outside, "\n"))
}
