package leaderelection

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Three replicas for a quarter of an hour, on a network that loses and delays, with processes that are stopped, killed and told to end, and
// with clocks that are days apart and of which the fastest runs 1.4 times as fast as the slowest: no two work at a time.
func TestNoTwoLeadAtATime(t *testing.T) {
	var wins, renewals, releases, lost int
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(1, 1.4)
		w := newWorld(rapid.Uint64().Draw(t, "seed"), rate.Draw(t, "a"), rate.Draw(t, "b"), rate.Draw(t, "c"))
		w.run(15 * time.Minute)
		require.Empty(t, w.violations)
		wins, renewals, releases, lost = wins+w.wins, renewals+w.renewals, releases+w.releases, lost+w.lost
	})
	t.Logf("%d terms, %d renewals, %d releases, %d terms lost", wins, renewals, releases, lost)
	for _, count := range []int{wins, renewals, releases, lost} {
		assert.NotZero(t, count, "it never came to what this is about")
	}
}

// The promise ends where the documentation says that it does: from 1.5 on, which is 15 s to 10 s, two can meet. It also shows
// that the test above can find what it searches.
func TestTwoCanLeadWhenOneClockRunsHalfAsFastAgain(t *testing.T) {
	met := 0
	for seed := range uint64(20) {
		w := newWorld(seed, 1, 1.8)
		w.run(time.Hour)
		met += len(w.violations)
	}
	assert.NotZero(t, met)
}

// When nothing goes wrong any more, somebody leads before a minute has passed, and stays.
func TestSomebodyLeadsInTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(t, "seed"), 1, 1.2, 0.9)
		w.run(5 * time.Minute)
		at := w.now
		lease := w.lease
		w.run(at + 10*time.Minute)
		require.NotNil(t, w.lease)
		require.NotEqual(t, lease.ResourceVersion, w.lease.ResourceVersion, "nobody has written the Lease for ten minutes")
	})
}
