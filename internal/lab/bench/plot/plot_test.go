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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
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
