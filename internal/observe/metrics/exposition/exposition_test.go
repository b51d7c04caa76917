package exposition_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/observe/metrics/exposition"
)

var (
	passes = exposition.Desc{Name: "passes_total", Kind: exposition.CounterKind, Help: "Passes, by result.", Labels: []string{"result", "who"}}
	depth  = exposition.Desc{Name: "depth_items", Kind: exposition.GaugeKind, Help: "What \\ waits\n(two lines)."}
	took   = exposition.Desc{Name: "took_seconds", Kind: exposition.HistogramKind, Help: "How long.", Labels: []string{"phase"}, Buckets: []float64{0.005, 0.1, 1, 10}}
)

func text(t require.TestingT, r *exposition.Registry) string {
	var out bytes.Buffer
	require.NoError(t, r.WriteText(&out))
	return out.String()
}

// The official library writes the same bytes for the same values.
func TestTheLibraryWritesTheSame(t *testing.T) {
	ours := &exposition.Registry{}
	theirs := prometheus.NewRegistry()
	counters := ours.Counters(passes)
	theirCounters := prometheus.NewCounterVec(prometheus.CounterOpts{Name: passes.Name, Help: passes.Help}, passes.Labels)
	gauges := ours.Gauges(depth)
	theirGauges := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: depth.Name, Help: depth.Help}, nil)
	histograms := ours.Histograms(took)
	theirHistograms := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: took.Name, Help: took.Help, Buckets: took.Buckets}, took.Labels)
	theirs.MustRegister(theirCounters, theirGauges, theirHistograms)
	assert.Empty(t, text(t, ours), "families without values are not shown")

	for _, labels := range [][]string{{"failed", "b"}, {"done", "z"}, {"done", "a"}, {"quote \" back \\ line \n", "ü"}, {"", ""}} {
		for range 3 {
			counters.With(labels...).Inc()
			theirCounters.WithLabelValues(labels...).Inc()
		}
	}
	for _, value := range []float64{-3, 0.1, 1e21, 12345678, math.Inf(1)} {
		gauges.With().Set(value)
		theirGauges.WithLabelValues().Set(value)
		assert.Equal(t, libraryText(t, theirs), text(t, ours))
	}
	for _, value := range []float64{0, 0.005, 0.0051, 0.1, 0.5, 1, 3, 10, 11, 1e9} {
		histograms.With("pods").Observe(value)
		histograms.With("content").Observe(value / 7)
		theirHistograms.WithLabelValues("pods").Observe(value)
		theirHistograms.WithLabelValues("content").Observe(value / 7)
	}
	assert.Equal(t, libraryText(t, theirs), text(t, ours))
}

// libraryText returns the official library's output.
func libraryText(t *testing.T, registry *prometheus.Registry) string {
	families, err := registry.Gather()
	require.NoError(t, err)
	var out bytes.Buffer
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&out, family)
		require.NoError(t, err)
	}
	return out.String()
}

func parse(t require.TestingT, text string) map[string]*dto.MetricFamily {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err, text)
	return families
}

// A label value survives a round trip through Prometheus' parser.
func TestLabelsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.String(), 2, 2).Draw(t, "labels")
		number := rapid.Float64().Draw(t, "number")
		r := &exposition.Registry{}
		r.Func(exposition.Desc{Name: "x", Kind: exposition.GaugeKind, Help: rapid.String().Draw(t, "help"), Labels: []string{"a", "b"}},
			func(put func(float64, ...string)) { put(number, values...) })
		metric := parse(t, text(t, r))["x"].Metric[0]
		assert.Equal(t, values, []string{metric.Label[0].GetValue(), metric.Label[1].GetValue()})
		assert.Equal(t, number, metric.GetGauge().GetValue())
	})
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	r := &exposition.Registry{}
	r.Counters(passes).With("a\xffb", "").Inc()
	assert.Equal(t, "a\uFFFDb", parse(t, text(t, r))["passes_total"].Metric[0].Label[0].GetValue())
}

func TestFunctionsAreAskedAtEachReading(t *testing.T) {
	r := &exposition.Registry{}
	value := 1.0
	r.Func(depth, func(put func(float64, ...string)) {
		if value > 0 {
			put(value)
		}
	})
	assert.Contains(t, text(t, r), "\ndepth_items 1\n")
	value = 2
	assert.Contains(t, text(t, r), "\ndepth_items 2\n")
	value = 0
	assert.Empty(t, text(t, r), "families without values are not shown")
}

func TestMistakesOfTheProgramPanic(t *testing.T) {
	r := &exposition.Registry{}
	v := r.Counters(passes)
	assert.PanicsWithValue(t, "exposition: there are two families of the name passes_total", func() { r.Gauges(passes) })
	assert.PanicsWithValue(t, `exposition: passes_total has the labels ["result" "who"], not 1`, func() { v.With("one") })
	r.Func(depth, func(put func(float64, ...string)) { put(1, "too many") })
	assert.Panics(t, func() { text(t, r) })
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTheErrorIsTheWriters(t *testing.T) {
	r := &exposition.Registry{}
	r.Counters(passes).With("a", "b").Inc()
	assert.EqualError(t, r.WriteText(brokenPipe{}), "broken pipe")
}

// While values change, each scrape is consistent in itself: a histogram's count is that of its
// last bucket.
func TestReadingWhileWriting(t *testing.T) {
	r := &exposition.Registry{}
	counter, histograms := r.Counters(passes), r.Histograms(took)
	var writers sync.WaitGroup
	const writes = 2000
	for _, who := range []string{"a", "b"} {
		writers.Go(func() {
			for i := range writes {
				counter.With("done", who).Inc()
				histograms.With(who).Observe(float64(i % 12))
				histograms.With("both").Observe(1)
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		families := parse(t, text(t, r))
		if families["took_seconds"] == nil {
			continue
		}
		for _, metric := range families["took_seconds"].Metric {
			buckets := metric.GetHistogram().Bucket
			assert.Equal(t, metric.GetHistogram().GetSampleCount(), buckets[len(buckets)-1].GetCumulativeCount())
		}
	}
	families := parse(t, text(t, r))
	assert.EqualValues(t, writes, families["passes_total"].Metric[0].GetCounter().GetValue())
	both := families["took_seconds"].Metric[2]
	require.Equal(t, "both", both.Label[0].GetValue(), "they are sorted")
	assert.EqualValues(t, 2*writes, both.GetHistogram().GetSampleCount())
	assert.EqualValues(t, 2*writes, histograms.With("both").Sum())
}

func TestCountingCostsNoAllocation(t *testing.T) {
	r := &exposition.Registry{}
	counter, gauge, histogram := r.Counters(passes).With("a", "b"), r.Gauges(depth).With(), r.Histograms(took).With("x")
	assert.Zero(t, testing.AllocsPerRun(100, func() { counter.Inc(); gauge.Set(1); histogram.Observe(0.5) }))
}

func TestTheLinterHasNothingToSay(t *testing.T) {
	r := &exposition.Registry{}
	r.Counters(passes).With("a", "b").Inc()
	r.Histograms(took).With("x").Observe(1)
	problems, err := promlint.New(strings.NewReader(text(t, r))).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)
}
