package bench

import (
	"fmt"
	"math"
	"math/bits"
)

// Keys are object names as in a cluster: "namespace-017/web-7c5ddbdf54-00042".
type Keys struct {
	keys         []string
	distribution Distribution
	seed         uint64
	octaves      float64 // log2(n+1), for Zipf
}

const (
	objectsInNamespace = 100
	maxNamespaces      = 1000
)

// NewKeys returns n distinct keys, from which Pickers draw with distribution d. Neighbours by index
// are in different namespaces, so the keys preferred by Zipf and Hot are spread. The keys depend on
// n alone; the seed decides the order in which they are drawn. n must be above zero.
func NewKeys(n int, d Distribution, seed uint64) *Keys {
	k := &Keys{keys: make([]string, n), distribution: d, seed: seed, octaves: math.Log2(float64(n) + 1)}
	namespaces := min(max(n/objectsInNamespace, 1), maxNamespaces)
	// All keys are parts of one text: a million small strings would burden the garbage collector
	// during the measurement.
	var buffer []byte
	ends := make([]int, n)
	for i := range k.keys {
		buffer = fmt.Appendf(buffer, "namespace-%03d/web-7c5ddbdf54-%05d", i%namespaces, i/namespaces)
		ends[i] = len(buffer)
	}
	text, start := string(buffer), 0
	for i, end := range ends {
		k.keys[i], start = text[start:end], end
	}
	return k
}

// All returns the keys by index. They must not be changed.
func (k *Keys) All() []string { return k.keys }

// Key returns the key with the given index.
func (k *Keys) Key(i int) string { return k.keys[i] }

// Picker returns a new Picker for a producer. Different numbers draw different sequences; the same
// number draws the same sequence again.
func (k *Keys) Picker(producer int) *Picker {
	return &Picker{keys: k, n: uint64(len(k.keys)), state: mix(k.seed ^ mix(uint64(producer)+1))}
}

// Distribution says how often each key is drawn.
type Distribution string

// The distributions.
const (
	// Uniform draws all keys equally often, in random order.
	Uniform Distribution = "uniform"
	// Zipf draws the key with index i in proportion to 1/(i+1), Zipf's law with s = 1 and v = 1: of
	// 100,000 keys the first gets 6 % of the events, the first hundred 40 %. Many clusters have
	// such traffic: a few objects change all the time, most hardly ever.
	Zipf Distribution = "zipf"
	// Hot draws the first key for 90 % of the events, and the others equally often for the rest.
	Hot Distribution = "hot"
	// InTurn draws one key after the other, for fixed pieces of work.
	InTurn Distribution = "in turn"
)

// Distributions returns all random distributions.
func Distributions() []Distribution { return []Distribution{Uniform, Zipf, Hot} }

// Picker draws keys. It must not be shared by goroutines.
type Picker struct {
	keys  *Keys
	n     uint64
	state uint64
	turn  int

	_ [128 - 32]byte // keeps pickers on separate cache lines
}

// hotShare is the share of Hot's key, in units of 2^-32.
const hotShare = 1 << 32 / 10 * 9

// Next returns the index of the next key.
func (p *Picker) Next() int {
	if p.keys.distribution == InTurn {
		p.turn++
		return (p.turn - 1) % len(p.keys.keys)
	}
	r := p.random()
	switch p.keys.distribution {
	case Zipf:
		return p.zipf(r)
	case Hot:
		if uint32(r) < hotShare || p.n == 1 {
			return 0
		}
		// The lower half is used up by the decision; the upper half is independent of it.
		return 1 + int((r>>32)*(p.n-1)>>32)
	default:
		index, _ := bits.Mul64(r, p.n) // 0 to n-1, without a division
		return int(index)
	}
}

// zipf inverts the integral of 1/x: (n+1)^u is between 1 and n+1 and falls between i+1 and i+2 with
// a probability of log((i+2)/(i+1)) / log(n+1), about 1/(i+1).
func (p *Picker) zipf(r uint64) int {
	u := float64(r>>11) / (1 << 53)
	return min(int(math.Exp2(u*p.keys.octaves)), int(p.n)) - 1
}

// random is SplitMix64: a counter with a stride, and a mixer.
func (p *Picker) random() uint64 {
	p.state += 0x9e3779b97f4a7c15
	return mix(p.state)
}

// mix is a permutation of the 64-bit numbers in which every input bit changes half of the output
// bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Index returns a function that returns the index of a key, or -1 if it is not one of the keys. The
// function may be called from any goroutine.
func (k *Keys) Index() func(key string) int {
	indexes := make(map[string]int, len(k.keys))
	for i, key := range k.keys {
		indexes[key] = i
	}
	return func(key string) int {
		if i, ok := indexes[key]; ok {
			return i
		}
		return -1
	}
}
