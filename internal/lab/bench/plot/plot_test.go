package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"math"
	"math/rand/v2"
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

// drawn returns pictures of all kinds.
func drawn() map[string][]byte {
	pictures := map[string][]byte{}
	for name, b := range bars() {
		pictures["bars-"+name] = b.SVG()
	}
	for name, l := range lines() {
		pictures["lines-"+name] = l.SVG()
	}
	for name, p := range percentiles() {
		pictures["percentiles-"+name] = p.SVG()
	}
	return pictures
}

func bars() map[string]Bars {
	nan := math.NaN()
	return map[string]Bars{
		"ratios": {
			Title:   "Orrery's time as a part of client-go's",
			Caption: "Medians of the ratios of five rounds, whiskers from the least to the greatest. To the left of 1: Orrery is faster. The mark is the target.",
			Axis:    Axis{Title: "ours ÷ theirs", Unit: "×", Scale: Log10},
			Series:  []string{"ratio"},
			From:    1,
			Groups: []Group{
				{Name: "queue: Add, Get, Done", Values: []Value{{At: 0.18, Low: 0.16, High: 0.21}}, Target: 0.25},
				{Name: "queue: the same with metrics switched on, one goroutine", Values: []Value{{At: 0.09, Low: 0.088, High: 0.095}}, Target: 0.15},
				{Name: "store: writes while 4 readers list", Values: []Value{{At: 2400, Low: 1900, High: 3100}}, Target: 1000},
				{Name: "dispatch to 16 handlers", Values: []Value{{At: 0.13, Low: 0.11, High: 0.14}}, Target: 0.1},
				{Name: "no difference", Values: []Value{{At: 1, Low: 0.9, High: 1.15}}, Target: 0.5},
			},
		},
		"grouped": {
			Title:   "Time of an operation",
			Caption: "Medians, whiskers from the fastest round to the slowest.",
			Axis:    Axis{Title: "time", Unit: bench.Nanoseconds, Scale: Log10},
			Series:  []string{"Orrery", "client-go", "controller-runtime"},
			Groups: []Group{
				{Name: "queue/cycle", Values: []Value{{At: 62, Low: 60, High: 66}, {At: 310, Low: 300, High: 345}, {At: 900, Low: 800, High: 1400}}},
				{Name: "queue/add-after", Values: []Value{{At: 300}, {At: 1470, Low: 1400, High: 1600}, {At: nan}}},
				{Name: "fifo/relist", Values: []Value{{At: 31e6}, {At: 156e6}}},
				{Name: "nothing allocated", Values: []Value{{At: 0}, {At: 12, Label: "12 ns (and a long label)"}}},
			},
		},
		"linear": {
			Title:  "Memory",
			Axis:   Axis{Unit: bench.Bytes},
			Series: []string{"peak"},
			Groups: []Group{
				{Name: "channels", Values: []Value{{At: 713 << 20}}},
				{Name: "batching", Values: []Value{{At: 301 << 20, Low: 290 << 20, High: 320 << 20}}},
				{Name: "coalescing", Values: []Value{{At: 12.3 * (1 << 20)}}},
			},
		},
		"six": {
			Title:  "Six series, a name <of> \"odd\" letters & 名前空間, and a title that is far too long to stand on one line of a picture of this width",
			Axis:   Axis{Unit: bench.PerSecond},
			Series: []string{"one", "two", "three", "four of a much longer name", "five", "six of a name that makes a new row"},
			Groups: []Group{{Name: "all", Values: []Value{{At: 1e6}, {At: 2e6}, {At: 3e6}, {At: 2.5e6}, {At: 1.2e6}, {At: 4.25e6}}}},
		},
		"empty": {Title: "Nothing"},
	}
}

func lines() map[string]Lines {
	curve := func(name string, f func(x float64) float64, xs ...float64) Series {
		s := Series{Name: name}
		for _, x := range xs {
			y := f(x)
			s.Points = append(s.Points, Point{X: x, Y: Value{At: y, Low: 0.93 * y, High: 1.06 * y}})
		}
		return s
	}
	return map[string]Lines{
		"workers": {
			Title:   "Keys processed per second, by number of workers",
			Caption: "4 producers, 1 M distinct keys; whiskers from the slowest round to the fastest.",
			X:       Axis{Title: "workers", Unit: bench.Count, Scale: Log2},
			Y:       Axis{Title: "keys per second", Unit: bench.PerSecond},
			Series: []Series{
				curve("Orrery", func(x float64) float64 { return 4.2e6 * (1 - 0.3*math.Log2(x)/6) }, 1, 2, 4, 8, 16, 32, 64),
				curve("client-go", func(x float64) float64 { return 0.7e6 * (1 - 0.5*math.Log2(x)/6) }, 1, 2, 4, 8, 16, 32, 64),
				curve("priority queue", func(x float64) float64 { return 0.4e6 + 1000*x }, 1, 2, 4, 8, 16, 32, 64),
			},
		},
		"designs": {
			Title: "p99 by event rate",
			X:     Axis{Title: "events per second", Unit: bench.PerSecond, Scale: Log10},
			Y:     Axis{Title: "latency, p99", Unit: bench.Nanoseconds, Scale: Log10},
			Series: []Series{
				curve("channels", func(x float64) float64 { return 5e3 + x*x/1e7 }, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
				curve("batching", func(x float64) float64 { return 2e3 + x*x/1e8 }, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
				curve("bounded", func(x float64) float64 { return 3e3 + x/1e2 }, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
				curve("coalescing", func(x float64) float64 { return 2.5e3 + x/1e3 }, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
			},
		},
		"linear": {
			Title: "One series along a linear axis",
			X:     Axis{Title: "handler cost", Unit: bench.Nanoseconds},
			Y:     Axis{Title: "heap", Unit: bench.Bytes},
			Series: []Series{
				curve("heap", func(x float64) float64 { return 12 << 20 * (1 + x/5e4) }, 0, 10e3, 20e3, 50e3, 100e3),
			},
		},
		"point": {
			Title:  "A single point",
			X:      Axis{Title: "workers", Unit: bench.Count, Scale: Log2},
			Y:      Axis{Title: "allocations", Unit: bench.Count},
			Series: []Series{{Name: "x", Points: []Point{{X: 4, Y: Value{At: 0}}, {X: math.NaN()}}}},
		},
		"empty": {Title: "Nothing", Series: []Series{{Name: "a"}, {Name: "b"}}},
	}
}

func percentiles() map[string]Percentiles {
	random := rand.New(rand.NewPCG(1, 2))
	latency := func(n int, scale, tail float64) *bench.Histogram {
		h := &bench.Histogram{}
		for range n {
			h.Record(time.Duration(scale * math.Exp(tail*random.NormFloat64())))
		}
		return h
	}
	return map[string]Percentiles{
		"tails": {
			Title:   "From due to processed, at 1 M events/s",
			Caption: "Latency is measured from when an event was due, whether or not the producer was in time.",
			Series: []Distribution{
				{"channels", latency(200_000, 6_900, 1.4)},
				{"batching", latency(200_000, 2_100, 0.9)},
				{"coalescing", latency(200_000, 2_500, 0.3)},
			},
		},
		"few":   {Title: "Few values", Series: []Distribution{{"orrery", latency(40, 1_000, 0.2)}}},
		"one":   {Title: "One value", Series: []Distribution{{"orrery", latency(1, 1_000, 0)}}},
		"empty": {Title: "Nothing", Series: []Distribution{{Name: "a"}, {Name: "b", Latency: &bench.Histogram{}}}},
	}
}
