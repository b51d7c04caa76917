package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"orrery/internal/lab/bench"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	for name, picture := range drawn() {
		file := filepath.Join("testdata", name+".svg")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, picture, 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		line, old, now := firstDifference(string(want), string(picture))
		assert.Equal(t, old, now, "%s, line %d; if the change is intended, run the test with -update and look at the pictures", file, line)
	}
}

// firstDifference returns the first line in which two texts differ; a diff of whole pictures would
// be unreadable.
func firstDifference(a, b string) (line int, inA, inB string) {
	linesA, linesB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(linesA), len(linesB)) {
		inA, inB = "", ""
		if i < len(linesA) {
			inA = linesA[i]
		}
		if i < len(linesB) {
			inB = linesB[i]
		}
		if inA != inB {
			return i + 1, inA, inB
		}
	}
	return 0, "", ""
}

func TestDocumentsAreXMLWithATitle(t *testing.T) {
	for name, picture := range drawn() {
		decoder := xml.NewDecoder(bytes.NewReader(picture))
		var elements []string
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			if element, ok := token.(xml.StartElement); ok {
				elements = append(elements, element.Name.Local)
			}
		}
		require.Greater(t, len(elements), 3, name)
		assert.Equal(t, []string{"svg", "title", "g"}, elements[:3], name)
	}
}

// No text is cut off. The rotated ones are the titles of vertical axes.
func TestTextsHaveRoom(t *testing.T) {
	element := regexp.MustCompile(`(?s)<text x="([0-9.-]+)" y="[0-9.-]+" transform="scale\(1, -1\)"[^>]*font-size:([0-9.]+)px[^>]*>([^<]*)<`)
	for name, picture := range drawn() {
		texts := element.FindAllSubmatch(picture, -1)
		require.NotEmpty(t, texts, name)
		for _, found := range texts {
			x, err := strconv.ParseFloat(string(found[1]), 64)
			require.NoError(t, err)
			size, err := strconv.ParseFloat(string(found[2]), 64)
			require.NoError(t, err)
			text := html.UnescapeString(string(found[3]))
			assert.GreaterOrEqual(t, x, 4.0, "%s: %q", name, text)
			assert.LessOrEqual(t, x+float64(sans(vg.Length(size), false, gray).Width(text)), float64(sheetWidth), "%s: %q", name, text)
		}
	}
}

// Each series with data is a line.
func TestEverySeriesIsDrawn(t *testing.T) {
	for name, picture := range lines() {
		svg := string(picture.SVG())
		for i, series := range picture.Series {
			if len(series.Points) > 2 {
				r, g, b, _ := seriesColor(i).RGBA()
				assert.Contains(t, svg, fmt.Sprintf("stroke:#%02X%02X%02X", r>>8, g>>8, b>>8), "%s: %s", name, series.Name)
			}
		}
	}
}

// The curve agrees with the histogram, reaches the slowest value, and has each point once.
func TestCurveOfAHistogram(t *testing.T) {
	h := &bench.Histogram{}
	for i := range 10_000 {
		h.Record(time.Duration(i+1) * time.Microsecond)
	}
	points := curveOf(h)
	require.Greater(t, len(points), 100)
	assert.Less(t, points[0].X, 1.1)
	assert.Equal(t, Point{X: 10_000, Y: Value{At: float64(h.Max())}}, points[len(points)-1])
	ticks := 0
	for i, point := range points {
		if i > 0 {
			assert.Greater(t, point.X, points[i-1].X)
			assert.GreaterOrEqual(t, point.Y.At, points[i-1].Y.At)
		}
		if i < len(points)-1 {
			assert.InEpsilon(t, 1-1/point.X, point.Y.At/1e7, 0.02, "1 - 1/%v of 10 ms", point.X)
		}
		if isPercentileTick(point) {
			ticks++
		}
	}
	assert.Equal(t, 5, ticks, "50, 90, 99, 99.9 and 99.99 %")
}
