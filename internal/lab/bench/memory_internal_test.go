package bench

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResidentMemoryIsReadFromTheStatusOfTheProcess(t *testing.T) {
	now, peak := resident("Name:\tgo\nVmHWM:\t    1880 kB\nVmRSS:\t     904 kB\nVmSwap:\nrest")
	assert.EqualValues(t, 904*1024, now)
	assert.EqualValues(t, 1880*1024, peak)
}

// A system either reports memory and resets the peak, or does neither. The ballast is not from Go's
// heap, so it is gone at once, and the margin is wide: the kernel may keep some of the heap's
// pages.
func TestThePeakBeginsAnew(t *testing.T) {
	const size = 256 << 20
	ballast, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	for i := 0; i < size; i += os.Getpagesize() {
		ballast[i] = 1
	}
	require.NoError(t, syscall.Munmap(ballast))
	_, before := ResidentMemory()
	if ok := ResetPeakMemory(); !ok {
		_, after := ResidentMemory()
		assert.GreaterOrEqual(t, after, before)
		return
	}
	_, after := ResidentMemory()
	assert.Less(t, after+size/2, before)
}
