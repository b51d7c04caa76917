package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// texts parses a picture and returns its texts.
func texts(t *testing.T, picture []byte) []string {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(picture)))
	var found []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			found = append(found, string(text))
		}
	}
}

func TestDotsNameRowsSeriesAndUnits(t *testing.T) {
	dots := Dots{
		Title: "Time of an operation", Caption: "Medians of <five> rounds.",
		Axis: Axis{Title: "time", Unit: bench.Nanoseconds, Log: true},
		Rows: []string{"queue/cycle", "fifo/relist"},
		Series: []Series{
			{Name: "ours", Points: []Point{{X: 0, Y: Value{At: 62, Low: 60, High: 66}}, {X: 1, Y: Value{At: 31e6}}}},
			{Name: "theirs", Points: []Point{{X: 0, Y: Value{At: 310}}, {X: 1, Y: Value{At: math.NaN()}}}},
		},
	}
	found := texts(t, dots.SVG())
	for _, want := range []string{
		"Time of an operation", "Medians of <five> rounds.", "time", "queue/cycle", "fifo/relist",
		"ours", "theirs", "10 ns", "10 ms",
	} {
		assert.Contains(t, found, want)
	}
	dots.Series = dots.Series[:1]
	assert.NotContains(t, texts(t, dots.SVG()), "ours", "a single series has no legend")
	assert.Equal(t, dots.SVG(), dots.SVG(), "the same struct is the same picture")
}

func TestLinesShowNumbersWithUnits(t *testing.T) {
	lines := Lines{
		Title: "Keys processed", X: Axis{Title: "workers", Unit: bench.Count},
		Y: Axis{Title: "keys per second", Unit: bench.PerSecond},
		Series: []Series{
			{Name: "fast", Points: []Point{{X: 1, Y: Value{At: 4e6, Low: 3e6, High: 5e6}}, {X: 4, Y: Value{At: 3e6}}}},
			{Name: "textbook", Points: []Point{{X: 1, Y: Value{At: 1e6}}, {X: math.NaN(), Y: Value{At: 2}}}},
		},
	}
	found := texts(t, lines.SVG())
	for _, want := range []string{"workers", "keys per second", "fast", "textbook", "2.5 M/s", "5 M/s"} {
		assert.Contains(t, found, want)
	}
	lines.Y.Log = true
	assert.Contains(t, texts(t, lines.SVG()), "1 M/s")
	lines.Series[0].Points[0].Y = Value{}
	assert.Contains(t, texts(t, lines.SVG()), "0", "an axis with a zero is linear")
}

func TestPicturesWithoutNumbers(t *testing.T) {
	for name, picture := range map[string][]byte{
		"dots":      Dots{Title: "Nothing"}.SVG(),
		"lines":     Lines{Title: "Nothing", Series: []Series{{Name: "a"}, {Name: "b"}}}.SVG(),
		"one value": Lines{Title: "Nothing", X: Axis{Log: true}, Series: []Series{{Points: []Point{{X: 4}}}}}.SVG(),
	} {
		assert.Contains(t, texts(t, picture), "Nothing", name)
	}
}
