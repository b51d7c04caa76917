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
			names := 0
			join := func() *participant {
				names++
				return p.join(fmt.Sprint("p", names))
			}
			replicas := []*participant{join(), join(), join()}
			for range 12 {
				time.Sleep(upTo(12 * time.Second))
				i := random.IntN(len(replicas))
				link := &replicas[i].link
				switch random.IntN(10) {
				case 0:
					replicas[i].stop()
				case 1:
					link.Refuse(true)
					link.Cut()
				case 2:
					link.BlackHole(true)
				case 3:
					link.Cut()
				case 4:
					link.Delay(upTo(3*time.Second), upTo(3*time.Second))
				case 5:
					link.CutAfter(random.Int64N(2000))
				default:
					link.Heal()
				}
				for i, replica := range replicas {
					if replica.hasEnded() {
						replicas[i] = join()
					}
				}
			}
			for _, replica := range replicas {
				replica.link.Heal()
			}
			time.Sleep(time.Minute)
			for i, replica := range replicas { // one may have lost its Lease in the meantime
				if replica.hasEnded() {
					replicas[i] = join()
				}
			}
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
