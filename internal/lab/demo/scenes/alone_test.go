package scenes_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// playAlone plays a scene without a server in a bubble, and passes the story to check.
func playAlone(t *testing.T, set gears.Set, name string, check func(t *testing.T, s story.State)) {
	synctest.Test(t, func(t *testing.T) {
		scene, err := scenes.Named(name)
		require.NoError(t, err)
		teller := scene.Story()
		err = scene.PlayAlone(t.Context(), teller, set)
		state := teller.State()
		if assert.NoError(t, err) {
			checkAlone(t, state)
			check(t, state)
		}
		if t.Failed() {
			t.Log(reported(state))
		}
	})
}

// checkAlone asserts what holds for every scene on single gears.
func checkAlone(t *testing.T, s story.State) {
	assert.True(t, s.Over)
	assert.True(t, s.Alone)
	assert.NotEmpty(t, s.Panel)
	assert.NotEmpty(t, s.Figures)
	assert.LessOrEqual(t, len(s.Panel), 9, "the panel leaves room for the narration")
	assert.Less(t, s.Elapsed.Seconds(), 26.0)
}

// bothForms plays a scene with the fast and with the textbook gears.
func bothForms(t *testing.T, name string, check func(t *testing.T, s story.State)) {
	for _, text := range []string{gears.Fast, gears.Textbook} {
		t.Run(text, func(t *testing.T) {
			set, err := gears.Parse(text)
			require.NoError(t, err)
			playAlone(t, set, name, check)
		})
	}
}

// figure returns a figure of the story.
func figure(s story.State, name string) string {
	for _, row := range s.Figures {
		if row.Name == name {
			return row.Text
		}
	}
	return ""
}

func TestOneKey(t *testing.T) {
	bothForms(t, "one-key", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Queue, "Add(team-3): it is dirty now, and queued"},
			beat{story.Queue, "Get returns team-3"},
			beat{story.Queue, "Add(team-3): it is dirty now; a worker holds it, so it is not queued"},
			beat{story.Queue, "Add(team-3): it is dirty already"},
			beat{story.Worker, "after 101 Adds, 1 of 3 workers holds team-3"},
			beat{story.Queue, "Done(team-3): it is dirty, so it is queued"},
			beat{story.Queue, "Get returns team-3"},
			beat{story.Queue, "Done(team-3): it is not dirty"},
		)
		assert.Equal(t, "101, of which 99 found it dirty", figure(s, "Adds of team-3"))
		assert.Equal(t, "2", figure(s, "passes over team-3"))
		assert.Equal(t, "1 with team-3, 3 with three different keys", figure(s, "workers at once"))
	})
}

func TestBackOff(t *testing.T) {
	bothForms(t, "back-off", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Queue, "AddRateLimited(blog): failure 10, retry in 2.56s"},
			beat{story.Queue, "Forget(blog): its next failure is failure 1"},
			beat{story.Worker, "shop: the pass succeeds"},
			beat{story.Queue, "AddRateLimited(blog): failure 1, retry in 5ms"},
			beat{story.Queue, "AddRateLimited(shop): failure 11, retry in 5.12s"},
			beat{story.Worker, "shop: the pass succeeds"},
		)
		const doubled = "5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1.28s, 2.56s; after it had recovered: "
		assert.Equal(t, doubled+"5ms", figure(s, "delays of blog"))
		assert.Equal(t, doubled+"5.12s", figure(s, "delays of shop"))
		assert.Zero(t, howOften(s, story.Queue, "(shop): its next"))
	})
}

func TestWorkerPool(t *testing.T) {
	bothForms(t, "worker-pool", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Worker, "not sliding: run 4 starts 1.6 s after the start and 0.0 s after the end of run 3"},
			beat{story.Worker, "sliding: run 4 starts 2.6 s after the start and 1.0 s after the end of run 3"},
			beat{story.Worker, "cannot process bad"},
			beat{story.Worker, "is back: its loop has begun run 2"},
		)
		assert.Equal(t, "6 runs, started at 0.0, 1.3, 2.6, 5.2, 6.5, 7.8 s", figure(s, "sliding"))
		assert.Equal(t, "8 runs, started at 0.0, 1.0, 2.0, 3.6, 4.6, 5.6, 6.6, 7.6 s", figure(s, "not sliding"))
		assert.Equal(t, "15 passes and 1 panic; 3 workers, whose loops made 4 runs", figure(s, "pool"))
		assert.Equal(t, story.Row{Name: "sliding", Text: "1█░░░░░░2██░░░░░░3██████████░░░░░░4██░░░░░░5██░░░░░░6█░"}, s.Panel[0])
		assert.True(t, wait.ReallyCrash.Load(), "the scene restores the switch")
	})
}

func TestTwoQueues(t *testing.T) {
	check := func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Server, "version 12: hot updated"},
			beat{story.FIFO, "DeltaFIFO, Pop 1: hotAUUUUUUUU; store hot@12, no version of the server"},
			beat{story.FIFO, "in order, Pop 1: hotA; store hot@1, version 1"},
			beat{story.FIFO, "DeltaFIFO, Pop 3: bA; store a@11 b@10 hot@12, version 12"},
			beat{story.FIFO, "in order, Pop 10: bA; store a@2 b@10 hot@9, version 10"},
			beat{story.FIFO, "in order, Pop 12: hotU; store a@11 b@10 hot@12, version 12"},
		)
		assert.Equal(t, "3 Pops, b in the store after Pop 3; of 12 states of the store, 10 were of no version of the server", figure(s, "DeltaFIFO"))
		assert.Equal(t, "12 Pops, b in the store after Pop 10; of 12 states of the store, 0 were of no version of the server", figure(s, "in order"))
	}
	bothForms(t, "two-queues", check)
	set, err := gears.Parse("textbook,deltafifo=inorder")
	require.NoError(t, err)
	playAlone(t, set, "two-queues", check)
}

func TestStall(t *testing.T) {
	bothForms(t, "stall", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Demo, "second 2: closed 100 done, slowest 2 ms; open 100 done, slowest 2 ms"},
			beat{story.Demo, "second 3: closed none done; open none done"},
			beat{story.Demo, "second 4: closed 101 done, slowest 1002 ms; open 200 done, slowest 1002 ms"},
		)
		assert.Equal(t, "501 events, p50 2 ms, p99 2 ms, max 1002 ms, 1 slow", figure(s, "closed loop"))
		assert.Equal(t, "600 events, p50 2 ms, p99 956 ms, max 1002 ms, 113 slow", figure(s, "open loop"))
	})
}
