package bench_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

func TestKeysAreDistinctAndLookLikeThoseOfACluster(t *testing.T) {
	keys := bench.NewKeys(250_000, bench.Uniform, 1)
	assert.Regexp(t, `^namespace-217/[a-z]+-[a-z0-9]{10}-00004$`, keys.Key(4217))
	assert.Regexp(t, `^namespace-999/[a-z]+-[a-z0-9]{10}-00249$`, keys.Key(249_999))
	assert.Equal(t, keys.Key(4217), bench.NewKeys(250_000, bench.Hot, 7).Key(4217))
	distinct := make(map[string]bool, 250_000)
	for _, key := range keys.All() {
		distinct[key] = true
	}
	assert.Len(t, distinct, 250_000)
	assert.Regexp(t, `^namespace-000/`, bench.NewKeys(1, bench.Uniform, 1).Key(0))
}

// shares draws a million keys and returns the share of each index.
func shares(d bench.Distribution, n int) []float64 {
	const draws = 1_000_000
	picker := bench.NewKeys(n, d, 42).Picker(0)
	counts := make([]float64, n)
	for range draws {
		counts[picker.Next()] += 1.0 / draws
	}
	return counts
}

// The draws are deterministic, so these bounds (five standard deviations) hold always or never.
func TestSharesAreThoseOfTheDistribution(t *testing.T) {
	const n = 1000
	near := func(want, got float64, what string, args ...any) {
		t.Helper()
		assert.InDelta(t, want, got, 5*math.Sqrt(want/1_000_000), fmt.Sprintf(what, args...))
	}
	for i, share := range shares(bench.Uniform, n) {
		near(1.0/n, share, "uniform %d", i)
	}
	for i, share := range shares(bench.Hot, n) {
		want := 0.1 / (n - 1)
		if i == 0 {
			want = 0.9
		}
		near(want, share, "hot %d", i)
	}
	for i, share := range shares(bench.Zipf, n) {
		near(math.Log(float64(i+2)/float64(i+1))/math.Log(n+1), share, "zipf %d", i)
	}
	many := shares(bench.Zipf, 100_000)
	first := 0.0
	for _, share := range many[:100] {
		first += share
	}
	assert.InDelta(t, 0.06, many[0], 0.001, "as documented")
	assert.InDelta(t, 0.40, first, 0.005, "as documented")
}

func TestOneKeyIsDrawnAlways(t *testing.T) {
	for _, d := range bench.Distributions() {
		picker := bench.NewKeys(1, d, 1).Picker(0)
		for range 1000 {
			require.Zero(t, picker.Next(), d)
		}
	}
}

func TestTheSameSeedDrawsTheSame(t *testing.T) {
	draw := func(seed uint64, producer int) []int {
		picker := bench.NewKeys(1000, bench.Uniform, seed).Picker(producer)
		var drawn []int
		for range 100 {
			drawn = append(drawn, picker.Next())
		}
		return drawn
	}
	assert.Equal(t, draw(1, 0), draw(1, 0))
	assert.NotEqual(t, draw(1, 0), draw(2, 0))
	assert.NotEqual(t, draw(1, 0), draw(1, 1))
	assert.NotEqual(t, draw(1, 1), draw(0, 1))
}

func TestACostInABubbleIsSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{-1, 0, 1, time.Microsecond, 49 * time.Microsecond, time.Second} {
			start := time.Now()
			bench.NewCost(d).Spend()
			assert.Equal(t, max(d, 0), time.Since(start))
		}
	})
}

func TestACostTakesItsTime(t *testing.T) {
	for _, d := range []time.Duration{0, time.Microsecond, 49 * time.Microsecond, time.Millisecond} {
		cost, start := bench.NewCost(d), time.Now()
		cost.Spend()
		assert.GreaterOrEqual(t, time.Since(start), d)
	}
	short := bench.NewCost(time.Microsecond)
	assert.Zero(t, testing.AllocsPerRun(100, short.Spend))
}

func TestFlagsForNumbers(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var keys int
	var l bench.Load
	bench.NumberVar(flags, &keys, "keys", 7, 1, 2_000_000, "")
	l.AddTo(flags, "keys")
	assert.Equal(t, 7, keys)
	assert.Equal(t, bench.Load{Distribution: bench.Uniform, Duration: 2 * time.Second, Seed: 1}, l)

	given := []string{"--keys", "1.5M", "--rate", "2k", "--duration", "3s", "--distribution", "hot"}
	require.NoError(t, flags.Parse(given))
	assert.Equal(t, 1_500_000, keys)
	assert.Equal(t, bench.Load{Distribution: bench.Hot, Duration: 3 * time.Second, Rate: 2000, Seed: 1}, l)
	assert.Equal(t, "1500000", flags.Lookup("keys").Value.String())

	for flag, values := range map[string][]string{
		"keys": {"0", "3M", "1.5", "many", "NaN"}, "rate": {"-1", "Inf"}, "duration": {"0", "-1s", "soon"},
	} {
		for _, value := range values {
			assert.Error(t, flags.Set(flag, value), "--%s %s", flag, value)
		}
	}
	assert.Equal(t, 1_500_000, keys, "a refused value changes nothing")
}
