package bench_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

// A log should not hold how things looked in between.
func TestInAPipeThereIsNoProgress(t *testing.T) {
	var out strings.Builder
	meter := &bench.Meter{}
	meter.Begin("filling", "keys", 0, 10)
	progress := bench.ShowProgress(&out, meter)
	progress.Print("a word")
	progress.Stop()
	progress.Stop()
	assert.Empty(t, out.String())
}
