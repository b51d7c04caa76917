package queuebench

import (
	"cmp"
	"hash/maphash"

	"orrery/internal/lab/bench"
)

// digest stands for a collection of keys in any order: how many, and two sums over a hash of each. It takes a few
// nanoseconds a key and no memory, so that proving the work does not become the work. Two collections with the same
// digest have the same keys equally often: that others have it by chance is as likely as guessing a number of 128 bits.
type digest struct {
	count        int
	sum, squares uint64
}

var digestSeed = maphash.MakeSeed()

func (d *digest) add(key string) {
	h := maphash.String(digestSeed, key)
	d.count++
	d.sum += h
	d.squares += h * (h | 1)
}

func (d *digest) merge(other digest) {
	d.count += other.count
	d.sum += other.sum
	d.squares += other.squares
}

func digestOf(keys []string) (d digest) {
	for _, key := range keys {
		d.add(key)
	}
	return d
}

// proveSame proves that these are the wanted keys, once each.
func proveSame(wanted []string, got digest) error {
	want := digestOf(wanted)
	return cmp.Or(
		bench.Prove("keys processed", want.count, got.count),
		bench.Prove("hash of the keys that were processed", want, got),
	)
}
