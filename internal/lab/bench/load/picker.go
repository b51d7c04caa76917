package load

import (
	"math"
	"math/bits"
)

// Picker draws keys. It belongs to one goroutine.
type Picker struct {
	keys  *Keys
	n     uint64
	state uint64

	_ [128 - 24]byte // Pickers of other producers are not on the same cache line
}

// hotShare of 2^32 is the part of draws that Hot gives to its key.
const hotShare = 1 << 32 / 10 * 9

// Next returns the index of the next key.
func (p *Picker) Next() int {
	r := p.random()
	switch p.keys.distribution {
	case Zipf:
		return p.zipf(r)
	case Hot:
		if uint32(r) < hotShare || p.n == 1 {
			return 0
		}
		// The lower half was used up for the decision, which has left the upper half as random as it was.
		return 1 + int((r>>32)*(p.n-1)>>32)
	default:
		index, _ := bits.Mul64(r, p.n) // of 0 to n-1, without a division
		return int(index)
	}
}

// zipf inverts the integral of 1/x: (n+1)^u is between 1 and n+1 and falls between i+1 and i+2 with a probability of
// log((i+2)/(i+1)) / log(n+1), about 1/(i+1).
func (p *Picker) zipf(r uint64) int {
	u := float64(r>>11) / (1 << 53)
	return min(int(math.Exp2(u*p.keys.octaves)), int(p.n)) - 1
}

// random is SplitMix64: a counter with a stride, and a mixer.
func (p *Picker) random() uint64 {
	p.state += 0x9e3779b97f4a7c15
	return mix(p.state)
}

// mix is a permutation of the numbers of 64 bits in which every bit of the input changes half of the output.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
