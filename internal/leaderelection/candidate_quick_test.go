package leaderelection

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Three replicas for a quarter of an hour, with message loss and delay, with processes that are
// stopped, killed and terminated, and with clocks that are days apart, the fastest running 1.4
// times as fast as the slowest: no two work at a time.
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
		assert.NotZero(t, count, "the seeds never reached this case")
	}
}

// The guarantee ends where the documentation says: from a rate of 1.5, which is 15 s to 10 s, two
// leaders can overlap. This also shows that the test above can find a violation.
func TestTwoCanLeadWhenOneClockRunsHalfAsFastAgain(t *testing.T) {
	met := 0
	for seed := range uint64(20) {
		w := newWorld(seed, 1, 1.8)
		w.run(time.Hour)
		met += len(w.violations)
	}
	assert.NotZero(t, met)
}

// Once faults stop, a replica leads within a minute and keeps the Lease.
func TestOneCandidateLeadsInTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(t, "seed"), 1, 1.2, 0.9)
		w.run(5 * time.Minute)
		at := w.now
		lease := w.lease
		w.run(at + 10*time.Minute)
		require.NotNil(t, w.lease)
		require.NotEqual(t, lease.ResourceVersion, w.lease.ResourceVersion, "the Lease has not been written for ten minutes")
	})
}

// The watch may show the write of a candidate before the response arrives. What the term says of
// the predecessor does not depend on the order.
func TestATermSaysHowLongThePredecessorWasSilent(t *testing.T) {
	for name, watchIsFaster := range map[string]bool{"answer first": false, "watch first": true} {
		t.Run(name, func(t *testing.T) {
			at := func(d time.Duration) moment { return moment{local: d, wall: time.Unix(1, 0).Add(d)} }
			c := candidate{identity: "b", timing: Timing{}.withDefaults()}
			dead := candidate{identity: "a", timing: c.timing}
			c.observe(dead.renewal(at(0)), at(time.Second))

			now := at(16 * time.Second)
			take := c.decide(now)
			require.Equal(t, update, take.kind)
			if watchIsFaster {
				c.observe(take.lease, now)
			}
			c.answer(take, granted, take.lease, now.local, now)
			require.True(t, c.leading)
			assert.Equal(t, "a", c.term.Predecessor)
			assert.Equal(t, 16*time.Second, c.term.Silent)
		})
	}
}
