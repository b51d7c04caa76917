package scenes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
)

// A scene with another outcome than it is there to show says so in its own words.
func TestAnotherOutcomeOfAScene(t *testing.T) {
	const want = "the scene did not show what it should: passes: got 3, want 2"
	scene := Scene{
		alone: func(context.Context, *story.Teller, gears.Set) error { return bench.Prove("passes", 2, 3) },
		play:  func(context.Context, *stage.Stage) error { return bench.Prove("passes", 2, 3) },
	}
	assert.EqualError(t, scene.PlayAlone(t.Context(), scene.Story(), gears.Set{}), want)
	assert.EqualError(t, scene.Play(t.Context(), nil), want)
}
