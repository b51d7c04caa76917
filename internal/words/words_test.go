package words

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCount(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		noun string
	}{
		"0 objects": {0, "object"},
		"1 object":  {1, "object"},
		"4 passes":  {4, "pass"},
		"2 watches": {2, "watch"},
		"1 watch":   {1, "watch"},
	} {
		assert.Equal(t, want, Count(c.n, c.noun))
	}
}

func TestDurationHasAtMostTwoUnits(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s":   -time.Minute,
		"45s":  45*time.Second + 900*time.Millisecond,
		"1m":   time.Minute,
		"4m3s": 4*time.Minute + 3*time.Second,
		"14m":  14*time.Minute + 3*time.Second,
		"2h":   2*time.Hour + 59*time.Second,
		"2h5m": 2*time.Hour + 5*time.Minute,
		"1d2h": 26*time.Hour + 5*time.Minute,
		"3d4h": 76*time.Hour + 30*time.Minute,
	} {
		assert.Equal(t, want, Duration(d))
	}
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	assert.Equal(t, []string{"a bc", "d", "éfghij", "k l"}, Wrap("a  bc d éfghij k l", 4),
		"a longer word has a line of its own")
	assert.Equal(t, []string{"ää ä"}, Wrap("ää ä", 4), "characters count, not bytes")
	assert.Equal(t, []string{""}, Wrap(" ", 4), "one line at least")
}
