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
	"gonum.org/v1/plot"

	"orrery/internal/lab/bench"
)

// texts parses a picture and returns its texts.
func texts(t *testing.T, picture *Picture) (found []string) {
	t.Helper()
	svg, err := picture.SVG()
	require.NoError(t, err)
	again, err := picture.SVG()
	require.NoError(t, err)
	assert.Equal(t, svg, again, "the same struct is the same picture")
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
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

func TestAPictureShowsNumbersWithUnits(t *testing.T) {
	picture := &Picture{
		Title: "Keys processed", Caption: "Medians of <five> rounds.", X: "workers", Y: "keys", Unit: bench.PerSecond,
		LogX: true, Ticks: []plot.Tick{{Value: 1, Label: "one"}, {Value: 4, Label: "four"}},
	}
	picture.Add("fast", Point{X: 4, Y: 3e6, Low: 3e6, High: 3e6})
	picture.Add("fast", Point{X: 1, Y: 4e6, Low: 3e6, High: 5e6})
	assert.NotContains(t, texts(t, picture), "fast", "a single curve has no legend")
	picture.Add("textbook", Point{X: 1, Y: 1e6, Low: 1e6, High: 1e6})
	picture.Add("textbook", Point{X: 4, Y: math.NaN()})
	found := texts(t, picture)
	for _, want := range []string{
		"Keys processed", "Medians of <five> rounds.", "workers", "keys", "fast", "textbook", "one", "four",
		"2.5 M/s", "0/s",
	} {
		assert.Contains(t, found, want)
	}
	picture.LogY = true
	assert.Contains(t, texts(t, picture), "1 M/s")
	picture.Add("fast", Point{X: 4})
	assert.Contains(t, texts(t, picture), "0/s", "an axis with a zero is linear")
	assert.Contains(t, texts(t, &Picture{Title: "Nothing"}), "Nothing")
}
