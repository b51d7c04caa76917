// Package tour reads workshop/tour.yaml, the reading tour along the way of one event.
package tour

import (
	"fmt"
	"path/filepath"

	"orrery/internal/lab/labs/anchor"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
)

// File is the file of the tour, relative to the repository.
const File = "workshop/tour.yaml"

// Tour is the content of the file.
type Tour struct {
	// Minutes is how long each stop takes.
	Minutes int    `yaml:"minutes"`
	Stops   []Stop `yaml:"stops"`
}

// Stop is a function to read.
type Stop struct {
	// At refers to the function, for example "deltafifo/fifo.go: DeltaFIFO.Pop".
	At string `yaml:"at"`
	// Look says what to look for.
	Look     texts.Text `yaml:"look"`
	Question texts.Text `yaml:"question"`
}

// Load reads the tour of a repository.
func Load(repository string) (*Tour, error) {
	t := &Tour{}
	return t, manifest.Read(filepath.Join(repository, filepath.FromSlash(File)), t)
}

// The size of the tour.
const (
	stops = 15
	whole = 45 // minutes
)

// Problems returns what is wrong with the tour. A test of the house checks that an event passes
// every stop.
func (t *Tour) Problems(repository string) (problems []string) {
	if len(t.Stops) != stops || len(t.Stops)*t.Minutes != whole {
		problems = append(problems, fmt.Sprintf("%s: %d stops of %d minutes, not %d stops in %d minutes", File, len(t.Stops), t.Minutes, stops, whole))
	}
	for i, stop := range t.Stops {
		if !stop.Look.Complete() || !stop.Question.Complete() {
			problems = append(problems, fmt.Sprintf("%s: stop %d lacks a language", File, i+1))
		}
		place, err := anchor.Resolve(repository, stop.At)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s: stop %d: %v", File, i+1, err))
		case place.Name == "" || place.Doc == "":
			problems = append(problems, fmt.Sprintf("%s: stop %d: %q is not a declaration with a doc comment", File, i+1, stop.At))
		}
	}
	return problems
}
