package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	for name, picture := range drawn() {
		file := filepath.Join("testdata", name+".svg")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, picture.svg, 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		line, old, now := firstDifference(string(want), string(picture.svg))
		assert.Equal(t, old, now, "%s, line %d; if the change is meant, run the test with -update and look at the pictures", file, line)
	}
}

// firstDifference returns the first line in which two texts differ; with a whole picture nobody could do anything.
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

func TestDocumentsAreXMLWithTitleAndDescription(t *testing.T) {
	for name, picture := range drawn() {
		decoder := xml.NewDecoder(bytes.NewReader(picture.svg))
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
		require.Greater(t, len(elements), 4, name)
		assert.Equal(t, []string{"svg", "title", "desc", "style"}, elements[:4], name)
	}
}

// A text that runs out of the picture or into another one cannot be read.
func TestTextsHaveRoom(t *testing.T) {
	for name, picture := range drawn() {
		texts := picture.canvas.texts
		for i, a := range texts {
			assert.GreaterOrEqual(t, a.left, 4.0, "%s: %q", name, a.text)
			assert.LessOrEqual(t, a.right, pictureWidth-4, "%s: %q", name, a.text)
			assert.LessOrEqual(t, a.bottom, picture.canvas.y+margin, "%s: %q", name, a.text)
			for _, b := range texts[:i] {
				overlap := a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
				assert.False(t, overlap, "%s: %q and %q", name, a.text, b.text)
			}
		}
	}
}

// countPaths is how many curves there are: marks are filled, curves are not.
func countPaths(c *canvas) int { return strings.Count(c.body.String(), `fill="none"`) }
