package metrics

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The name of a program may hold brackets and spaces.
func TestStatOfAProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stat")
	require.NoError(t, os.WriteFile(file, []byte("42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 150 0 0 20 0 9 0 12345 1000000 77 18446744073709551615 1 1\n"), 0o600))
	cpu, virtual, resident := readStat(file)
	assert.Equal(t, 4.0, cpu)
	assert.Equal(t, 1e6, virtual)
	assert.Equal(t, 77.0*float64(os.Getpagesize()), resident)
}

func TestAnUnavailableFigureHasNoValue(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	cpu, virtual, resident := readStat(missing)
	for _, value := range []float64{cpu, virtual, resident, countFiles(missing), readLimit(missing)} {
		assert.Equal(t, -1.0, value)
	}
	odd := filepath.Join(t.TempDir(), "odd")
	require.NoError(t, os.WriteFile(odd, []byte("nonsense\nMax open files            unlimited            unlimited            files\n"), 0o600))
	assert.Equal(t, -1.0, readLimit(odd))
	cpu, _, _ = readStat(odd)
	assert.Equal(t, -1.0, cpu)
}

func TestThisProcess(t *testing.T) {
	var p process
	p.read()
	assert.Positive(t, p.memory.HeapInuse)
	if runtime.GOOS == "linux" {
		assert.Positive(t, p.resident)
		assert.Greater(t, p.virtual, p.resident)
		assert.GreaterOrEqual(t, p.openFiles, 3.0)
		assert.Greater(t, p.maxFiles, p.openFiles)
	}
}
