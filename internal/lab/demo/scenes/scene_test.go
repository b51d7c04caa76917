package scenes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/stage"
)

// A scene with another outcome than it is there to show says so in its own words.
func TestAnotherOutcomeOfAScene(t *testing.T) {
	const want = "the scene did not show what it should: passes: got 3, want 2"
	scene := Scene{play: func(*stage.Stage, context.Context) error { return bench.Prove("passes", 2, 3) }}
	assert.EqualError(t, scene.Play(t.Context(), nil), want)
}
