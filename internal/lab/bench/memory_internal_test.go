package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestResidentMemoryIsReadFromTheStatusOfTheProcess(t *testing.T) {
	now, peak := resident("Name:\tgo\nVmHWM:\t    1880 kB\nVmRSS:\t     904 kB\nVmSwap:\nrest")
	assert.EqualValues(t, 904*1024, now)
	assert.EqualValues(t, 1880*1024, peak)
}

func TestResidentMemoryOfAMissingProcess(t *testing.T) {
	now, peak := ResidentMemoryOf(-1)
	assert.Zero(t, now)
	assert.Zero(t, peak)
}

// A system either reports memory and resets the peak, or does neither.
func TestThePeakBeginsAnew(t *testing.T) {
	ballast := make([]byte, 64<<20)
	for i := 0; i < len(ballast); i += os.Getpagesize() {
		ballast[i] = 1
	}
	_, before := ResidentMemory()
	ballast = nil
	if ok := ResetPeakMemory(); !ok {
		_, after := ResidentMemory()
		assert.GreaterOrEqual(t, after, before)
		return
	}
	_, after := ResidentMemory()
	assert.Less(t, after+32<<20, before)
}
