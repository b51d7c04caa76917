package load

import (
	"fmt"
	"math"
)

// Keys are names of objects as a cluster has them: "namespace-017/web-7c5ddbdf54-00042".
type Keys struct {
	keys         []string
	distribution Distribution
	seed         uint64
	octaves      float64 // log2(n+1), for Zipf
}

const (
	objectsInNamespace = 100
	maxNamespaces      = 1000
	// hashAlphabet are the letters and digits that generated names of a cluster are made of: no vowels, so that no
	// words come up, and nothing that looks like something else.
	hashAlphabet = "bcdfghjklmnpqrstvwxz2456789"
)

var applications = [...]string{"web", "api", "auth", "cart", "mail", "jobs", "feed", "index"}

// NewKeys makes n distinct keys, of which Pickers draw as d says. Neighbours by index are in different namespaces, so
// that the keys that Zipf and Hot prefer are spread. The same n gives the same keys whatever the seed; the seed decides
// the order in which they are drawn. n must be above zero.
func NewKeys(n int, d Distribution, seed uint64) *Keys {
	if n < 1 {
		panic(fmt.Sprintf("load: %d keys", n))
	}
	k := &Keys{keys: make([]string, n), distribution: d, seed: seed, octaves: math.Log2(float64(n) + 1)}
	namespaces := k.namespaces()
	// All keys are parts of one text: a million small strings would keep the garbage collector busy while something
	// else is measured.
	var buffer []byte
	ends := make([]int, n)
	for i := range k.keys {
		buffer = appendKey(buffer, i%namespaces, i/namespaces)
		ends[i] = len(buffer)
	}
	text, start := string(buffer), 0
	for i, end := range ends {
		k.keys[i], start = text[start:end], end
	}
	return k
}

func appendKey(b []byte, namespace, ordinal int) []byte {
	application := ordinal % len(applications)
	b = append(b, "namespace-"...)
	b = appendPadded(b, namespace, 3)
	b = append(b, '/')
	b = append(b, applications[application]...)
	b = append(b, '-')
	hash := mix(uint64(namespace*len(applications)+application) + 1)
	for range 10 {
		b = append(b, hashAlphabet[hash%uint64(len(hashAlphabet))])
		hash /= uint64(len(hashAlphabet))
	}
	b = append(b, '-')
	return appendPadded(b, ordinal, 5)
}

func appendPadded(b []byte, v, width int) []byte {
	digits := 1
	for rest := v; rest >= 10; rest /= 10 {
		digits++
	}
	width = max(width, digits)
	start := len(b)
	for range width {
		b = append(b, '0')
	}
	for at := start + width - 1; v > 0; v /= 10 {
		b[at] = byte('0' + v%10)
		at--
	}
	return b
}

// All returns the keys by index. They must not be changed.
func (k *Keys) All() []string { return k.keys }

// Len is the number of keys.
func (k *Keys) Len() int { return len(k.keys) }

// Key returns the key with that index.
func (k *Keys) Key(i int) string { return k.keys[i] }

// Picker returns a new Picker for one producer. Producers with different numbers draw different sequences; the same
// number draws the same again.
func (k *Keys) Picker(producer int) *Picker {
	return &Picker{keys: k, n: uint64(len(k.keys)), state: mix(k.seed ^ mix(uint64(producer)+1))}
}
