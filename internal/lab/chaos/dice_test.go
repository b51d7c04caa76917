package chaos

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// dice are the random numbers of one actor in one storm. Each actor has its own, so that an
// additional decision of one does not change those of the others.
type dice struct{ *rand.Rand }

// diceOf returns the dice of an actor. The same seed and words give the same dice.
func diceOf(seed uint64, words ...string) dice {
	h := fnv.New64a()
	for _, word := range words {
		h.Write([]byte(word))
		h.Write([]byte{0})
	}
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// chance returns true with the given probability, from 0 to 1.
func (d dice) chance(share float64) bool { return d.Float64() < share }

// between returns a duration from a range, in whole milliseconds.
func (d dice) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64((most-least)/time.Millisecond)+1))*time.Millisecond
}

// pause returns the time to the next of a series of events, given their average interval.
func (d dice) pause(mean time.Duration) time.Duration {
	return min(time.Duration(d.ExpFloat64()*float64(mean)), 5*mean).Truncate(time.Millisecond)
}

// oneOf returns one of the values.
func oneOf[V any](d dice, values ...V) V { return values[d.IntN(len(values))] }
