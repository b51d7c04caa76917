package leaderelection_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A candidate that joins after the leader's death waits for the whole lease, since it saw it first.
// For people, it says how long the leader has been silent.
func TestADeadLeaderIsWaitedForAndItsSilenceIsShown(t *testing.T) {
	for _, dead := range []time.Duration{0, 30 * time.Second, 15 * time.Minute} {
		inBubble(t, func(t *testing.T, p *place) {
			a := p.join("a")
			time.Sleep(5 * time.Second)
			require.True(t, a.leads())
			a.die()
			time.Sleep(dead)
			b := p.join("b")
			waits := until(t, "b leads", b.leads)
			assert.Equal(t, 15*time.Second, waits)
			assert.Contains(t, b.reported(), `acquired after "a"`)
			assert.GreaterOrEqual(t, b.term.Silent, dead+waits, "the term has the predecessor's silence")
			assert.Less(t, b.term.Silent, dead+waits+5*time.Second)
			if dead > 15*time.Second {
				assert.GreaterOrEqual(t, b.leaderSilent(), dead, "it says how long the leader has been silent")
			}
		})
	}
}
