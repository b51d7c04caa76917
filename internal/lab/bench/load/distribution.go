package load

import (
	"fmt"
	"strings"
)

// Distribution says which keys are drawn how often.
type Distribution string

// The distributions.
const (
	// Uniform draws all keys equally often, in a random order.
	Uniform Distribution = "uniform"
	// Zipf draws the key with index i in proportion to 1/(i+1), Zipf's law with s = 1 and v = 1: of 100,000 keys the
	// first gets 6 % of the events, the first hundred 40 %. Traffic of many clusters looks like that: a few objects
	// change all the time, most of them hardly ever.
	Zipf Distribution = "zipf"
	// Hot draws the first key for 90 % of the events, and the others equally often for the rest.
	Hot Distribution = "hot"
)

// Distributions are all of them.
func Distributions() []Distribution { return []Distribution{Uniform, Zipf, Hot} }

// ParseDistribution returns the distribution of that name.
func ParseDistribution(text string) (Distribution, error) {
	names := make([]string, 0, 3)
	for _, d := range Distributions() {
		if strings.EqualFold(text, string(d)) {
			return d, nil
		}
		names = append(names, string(d))
	}
	return "", fmt.Errorf("there is no distribution %q: choose one of %s", text, strings.Join(names, ", "))
}
