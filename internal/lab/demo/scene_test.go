package demo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/story"
)

// A scene with another outcome than it is there to show says so in its own words.
func TestAnotherOutcomeOfAScene(t *testing.T) {
	const want = "the scene did not show what it should: passes: got 3, want 2"
	prove := func(*Stage, *story.State) error { return bench.Prove("passes", 2, 3) }
	scene := Scene{Options: Options{Bare: true, Alone: true}, play: script(conclude(prove))}
	on, err := Open(t.Context(), StageConfig{Teller: scene.Story("")}, scene.Options)
	require.NoError(t, err)
	defer on.Close()
	assert.EqualError(t, scene.Play(t.Context(), on), want)
	assert.False(t, on.Teller.State().Over, "the scene has no end that reads like success")
}
