package leaderelection_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// Electors with everything that they are made of (clients, connections, watches, timers) over the built-in server, on links that
// are cut, silenced and slowed, and with processes that end and are started again: no two work at the same time, and when
// all links are whole again one does.
func TestElectorsOverBadLinks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		inBubble(t, func(t *testing.T, p *place) {
			random := rand.New(rand.NewPCG(seed, 2))
			upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
			names := 0
			join := func() *participant {
				names++
				return p.join(fmt.Sprint("p", names))
			}
			replicas := []*participant{join(), join(), join()}
			for range 25 {
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
					select {
					case <-replica.ended:
						replicas[i] = join()
					default:
					}
				}
			}
			for _, replica := range replicas {
				replica.link.Heal()
			}
			time.Sleep(2 * time.Minute)
			for i, replica := range replicas { // one may have lost in the meantime what it had
				select {
				case <-replica.ended:
					replicas[i] = join()
				default:
				}
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			leading := 0
			for _, replica := range replicas {
				if replica.leads() {
					leading++
				}
			}
			assert.Equal(t, 1, leading)
			if t.Failed() {
				rt.Fatalf("seed %d", seed)
			}
		})
	})
}
