package scenes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
)

// A scene with another outcome than it is there to show says so in its own words.
func TestAnotherOutcomeOfAScene(t *testing.T) {
	const want = "the scene did not show what it should: passes: got 3, want 2"
	scene := Scene{
		alone: func(context.Context, *story.Teller, *Gears) error { return bench.Prove("passes", 2, 3) },
		play:  func(context.Context, *stage.Stage) error { return bench.Prove("passes", 2, 3) },
	}
	assert.EqualError(t, scene.PlayAlone(t.Context(), scene.Story(), NewGears(gears.Set{}, nil, nil)), want)
	assert.EqualError(t, scene.Play(t.Context(), nil), want)
}

// A reader of the view is told of the objects that the view shows.
func TestGuidedScenesTellTheirOwnStory(t *testing.T) {
	for name, object := range map[string]string{"one-key": "red", "slow-consumer": "Red", "back-off": "web"} {
		s, err := Named(name)
		require.NoError(t, err)
		state := s.Guided().Story().State()
		assert.Contains(t, state.Happens, object)
		assert.NotEqual(t, s.Story().State().Happens, state.Happens)
		assert.NotEqual(t, s.Story().State().Look, state.Look)
	}
}

// A recording tells the gears apart by their names.
func TestEachGearOfASceneHasANameOfItsOwn(t *testing.T) {
	g := NewGears(gears.Set{}, nil, nil)
	for _, want := range []string{"queue", "queue-2", "queue-3"} {
		assert.Equal(t, want, g.unused("queue"))
	}
	assert.Equal(t, "fifo", g.unused("fifo"), "other gears are counted for themselves")
}
