package leaderelection_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Electors with their real clients, connections, watches and timers run over the built-in server,
// on links that are cut, silenced and slowed, and with processes that end and restart: no two
// work at the same time, and once all links are restored, one does.
func TestElectorsOverBadLinks(t *testing.T) {
	places := 20
	if testing.Short() {
		places = 4
	}
	for range places {
		seed := rand.Uint64()
		inBubble(t, func(t *testing.T, p *place) {
			random := rand.New(rand.NewPCG(seed, 2))
			upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
			replicas := make([]*participant, 3)
			restart := func() { // those that have ended
				for i, replica := range replicas {
					if replica == nil || replica.hasEnded() {
						replicas[i] = p.join(fmt.Sprint("p", len(p.of)))
					}
				}
			}
			restart()
			for range 12 {
				time.Sleep(upTo(12 * time.Second))
				replica := replicas[random.IntN(len(replicas))]
				link := &replica.link
				switch random.IntN(10) {
				case 0:
					replica.stop()
				case 1:
					link.Refuse(true)
					link.Cut()
				case 2:
					link.BlackHole(true)
				case 3:
					link.Cut()
				case 4:
					link.Delay(upTo(6 * time.Second))
				case 5:
					link.CutAfter(random.Int64N(2000))
				default:
					link.Heal()
				}
				restart()
			}
			for _, replica := range replicas {
				replica.link.Heal()
			}
			time.Sleep(time.Minute)
			restart() // one may have lost its Lease in the meantime
			time.Sleep(time.Minute)
			synctest.Wait()
			leading := 0
			for _, replica := range replicas {
				if replica.leads() {
					leading++
				}
			}
			assert.Equal(t, 1, leading)
		})
		require.False(t, t.Failed(), "with seed %d", seed)
	}
}
