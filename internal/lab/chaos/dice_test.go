package chaos

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// dice are the random numbers of one actor in one storm. Each has its own, so that one more decision of somebody does
// not change those of everybody else.
type dice struct{ *rand.Rand }

// diceOf returns the dice of an actor; the same for the same seed and the same words.
func diceOf(seed uint64, words ...string) dice {
	h := fnv.New64a()
	for _, word := range words {
		h.Write([]byte(word))
		h.Write([]byte{0})
	}
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// chance is true so often, 0 to 1.
func (d dice) chance(share float64) bool { return d.Float64() < share }

// between returns a duration from a range, in whole milliseconds.
func (d dice) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64((most-least)/time.Millisecond)+1))*time.Millisecond
}

// pause returns how long it is to the next of things that happen every so often on average.
func (d dice) pause(mean time.Duration) time.Duration {
	return min(time.Duration(d.ExpFloat64()*float64(mean)), 5*mean).Truncate(time.Millisecond)
}

// oneOf returns one of the values.
func oneOf[V any](d dice, values ...V) V { return values[d.IntN(len(values))] }
