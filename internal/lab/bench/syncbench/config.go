package syncbench

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"orrery/internal/lab/bench"
)

// Format is the encoding in which the server answers clients that read both.
type Format string

// The two formats.
const (
	JSON     Format = "json"
	Protobuf Format = "protobuf"
)

// ParseFormat returns the format of that name.
func ParseFormat(text string) (Format, error) {
	switch f := Format(text); f {
	case JSON, Protobuf:
		return f, nil
	}
	return "", fmt.Errorf("%q is neither %q nor %q", text, JSON, Protobuf)
}

// Config of a run. The zero value is 100,000 pods as metadata in JSON, in one page.
type Config struct {
	// Objects is the number of pods. Default: 100,000.
	Objects int
	// ObjectSize is the size in bytes of a pod (of its head, if it is metadata that is asked for) in JSON. It is reached
	// with an annotation, so it cannot be less than a pod has anyway. 0: whatever a pod has, about 2.7 kB.
	ObjectSize int
	// Format of the server's answers. Default: JSON. Typed pods are JSON always.
	Format Format
	// PageSize makes the server answer in pages of so many pods at most, as one without a watch cache does with lists that
	// have a limit; both clients ask for 500. 0: everything in one page.
	PageSize int
	// Typed asks for whole pods, of which the client keeps what its type has.
	Typed bool
	// Streaming makes the server accept streaming lists (sendInitialEvents).
	Streaming bool
	// Seed of the generator. Default: 1.
	Seed uint64
}

const (
	maxObjects    = 5_000_000
	maxObjectSize = 1 << 20
)

func (c Config) withDefaults() Config {
	c.Objects = cmp.Or(c.Objects, 100_000)
	c.Format = cmp.Or(c.Format, JSON)
	c.Seed = cmp.Or(c.Seed, 1)
	return c
}

// Validate says what is wrong with the configuration, all of it.
func (c Config) Validate() error {
	var problems []error
	if c.Objects < 0 || c.Objects > maxObjects {
		problems = append(problems, fmt.Errorf("objects: %d is not between 1 and %d", c.Objects, maxObjects))
	}
	if c.ObjectSize < 0 || c.ObjectSize > maxObjectSize {
		problems = append(problems, fmt.Errorf("object size: %d is not between 0 and %d bytes", c.ObjectSize, maxObjectSize))
	}
	if c.Format != "" {
		if _, err := ParseFormat(string(c.Format)); err != nil {
			problems = append(problems, fmt.Errorf("format: %w", err))
		}
	}
	if c.Typed && c.Format == Protobuf {
		problems = append(problems, errors.New("format: typed pods are read as JSON only"))
	}
	if c.PageSize < 0 {
		problems = append(problems, fmt.Errorf("page size: %d is negative", c.PageSize))
	}
	return errors.Join(problems...)
}

func (c Config) parameters() []bench.Parameter {
	size, pages, kind := "natural", "none", "metadata"
	if c.ObjectSize > 0 {
		size = strconv.Itoa(c.ObjectSize)
	}
	if c.PageSize > 0 {
		pages = strconv.Itoa(c.PageSize)
	}
	if c.Typed {
		kind = "typed"
	}
	parameters := []bench.Parameter{
		{Name: "objects", Value: strconv.Itoa(c.Objects)},
		{Name: "object size", Value: size},
		{Name: "kind", Value: kind},
		{Name: "format", Value: string(c.Format)},
		{Name: "page size", Value: pages},
	}
	if c.Streaming {
		parameters = append(parameters, bench.Parameter{Name: "streaming", Value: "on"})
	}
	return append(parameters, bench.Parameter{Name: "seed", Value: strconv.FormatUint(c.Seed, 10)})
}
