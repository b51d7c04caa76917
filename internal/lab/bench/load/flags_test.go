package load_test

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench/load"
)

func TestFlagsForNumbers(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var keys, size int
	var l load.Load
	load.CountVar(flags, &keys, "keys", 7, 1, 2_000_000, "")
	load.SizeVar(flags, &size, "size", "")
	l.AddTo(flags, time.Second, "keys")
	assert.Equal(t, 7, keys)
	assert.Equal(t, load.Load{Distribution: load.Uniform, Duration: time.Second, Seed: 1}, l)

	require.NoError(t, flags.Parse([]string{"--keys", "1.5M", "--size", "64KiB", "--rate", "2k", "--duration", "3s", "--distribution", "hot"}))
	assert.Equal(t, 1_500_000, keys)
	assert.Equal(t, 64<<10, size)
	assert.Equal(t, load.Load{Distribution: load.Hot, Duration: 3 * time.Second, Rate: 2000, Seed: 1}, l)
	assert.Equal(t, "1500000", flags.Lookup("keys").Value.String())

	for flag, values := range map[string][]string{
		"keys": {"0", "3M", "1.5", "many", "NaN"}, "size": {"-1", "2MiB"}, "rate": {"-1", "Inf"}, "duration": {"0", "-1s", "soon"},
	} {
		for _, value := range values {
			assert.Error(t, flags.Set(flag, value), "--%s %s", flag, value)
		}
	}
	assert.Equal(t, 1_500_000, keys, "a refused value changes nothing")
}

func TestTheRateIsHalfOfWhatIsPossible(t *testing.T) {
	var l load.Load
	assert.Equal(t, 500.0, l.RateOr(2000, 2*time.Second))
	assert.Equal(t, 1.0, l.RateOr(1, time.Hour), "one a second at the least")
	l.Rate = 7
	assert.Equal(t, 7.0, l.RateOr(2000, 2*time.Second))
}
