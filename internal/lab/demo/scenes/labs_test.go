package scenes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/story"
)

func TestErrors(t *testing.T) {
	for _, form := range []string{gears.Fast, gears.Textbook} {
		set, err := gears.Parse(form)
		require.NoError(t, err)
		playWith(t, set, "errors", nil, func(t *testing.T, s story.State) {
			for what, want := range map[string]string{
				"create red":       "429 TooManyRequests, 2 requests: the client repeats it after the delay",
				"create red again": "409 AlreadyExists, 1 request: nothing is left to do",
				"delete green":     "404 NotFound, 1 request: nothing is left to do",
				"update red":       "409 Conflict, 1 request: read again, repeat the change",
				"delete red":       "500 InternalError, 1 request: try again later",
			} {
				assert.Equal(t, want, figure(s, what))
			}
			assert.Regexp(t, "^429 TooManyRequests, .*: watch again from the same position$", figure(s, "watch"))
			assert.Regexp(t, "^3s were requested, 3", figure(s, "delay of the watch"))
			assert.Regexp(t, "^410 Expired, .*: list again$", figure(s, "watch again"))
			assert.Equal(t, 3, s.Requests[story.Spectators]["delete"], "one for green, and two for red: the refused one is sent again later")
			assert.Equal(t, 1, howOften(s, story.Reflector, "410 Expired"), "a message that speaks of an old version is no 410")
		})
	}
}

func TestTwoWaysOf410(t *testing.T) {
	for _, form := range []string{gears.Fast, gears.Textbook} {
		set, err := gears.Parse(form)
		require.NoError(t, err)
		playWith(t, set, "two-ways-of-410", nil, func(t *testing.T, s story.State) {
			inOrder(t, s,
				beat{story.Server, "the watch is answered with HTTP 410 Gone"},
				beat{story.Reflector, "410 Expired"},
				beat{story.Server, "the watch is answered with HTTP 200 OK"},
				beat{story.Server, "an event in the stream: ERROR"},
				beat{story.Reflector, "410 Expired"},
			)
			assert.Equal(t, "HTTP 410, events: none; Status 410 Expired; then a list of 3 objects", figure(s, "way 1"))
			assert.Equal(t, "HTTP 200, events: ERROR; Status 410 Expired; then a list of 4 objects", figure(s, "way 2"))
			assert.Equal(t, "4 of 4 objects", figure(s, "in the store"))
		})
	}
}

func TestIndex(t *testing.T) {
	bothForms(t, "index", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Indexer, "index n1: web-1, web-2; index n2: db; index n3: no set"},
			beat{story.Indexer, "index n1: web-2; index n2: db, web-1; index n3: no set"},
			beat{story.You, "a reader sets the node of the stored web-1 to n3"},
			beat{story.Indexer, "web-1 says n3, web-2 says n1; index n1: web-2; index n2: db, ! web-1; index n3: no set"},
			beat{story.Indexer, "Update: web-1 has a new object"},
			beat{story.Indexer, "Replace: 3 objects"},
			beat{story.Indexer, "index n1: web-1, web-2; index n2: db; index n3: no set"},
		)
		assert.Equal(t, "1 entry wrong: the set of n2 has web-1, whose object says n3", figure(s, "after a change of the stored object"))
		assert.Equal(t, "0 entries wrong: the index is right", figure(s, "after a new list"))
	})
}

func TestSlowConsumer(t *testing.T) {
	bothForms(t, "slow-consumer", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.FIFO, "red: Updated; 1 slot is taken"},
			beat{story.FIFO, "green: Updated; 2 slots are taken"},
			beat{story.FIFO, "red: Updated; 2 slots are taken"},
			beat{story.FIFO, "Pop hands out red with 7 deltas: U U U U U U U"},
			beat{story.FIFO, "Pop hands out green with 1 delta: U"},
			beat{story.FIFO, "blue: two deletions in a row"},
			beat{story.FIFO, "Replace: a list of 1 object, 2 tombstones"},
			beat{story.FIFO, "Pop hands out blue with 1 delta: D"},
		)
		assert.Equal(t, "2 pops; at most 7 deltas in one", figure(s, "8 events of 2 keys"))
		assert.Equal(t, "red", figure(s, "left in the store"))
	})
	set, err := gears.Parse("deltafifo=inorder")
	require.NoError(t, err)
	playAlone(t, set, "slow-consumer", func(t *testing.T, s story.State) {
		assert.Equal(t, "8 pops; at most 1 delta in one", figure(s, "8 events of 2 keys"))
	})
}

func TestStoreDecides(t *testing.T) {
	play(t, "store-decides", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.FIFO, "apple: popped with the delta Replaced; the store lacks it"},
			beat{story.FIFO, "fig: popped with the delta Added; the store lacks it"},
			beat{story.Reflector, "410 Expired"},
			beat{story.FIFO, "apple: popped with the delta Replaced; the store has this version"},
			beat{story.FIFO, "pear: popped with the delta Replaced; the store has version"},
			beat{story.Handler, "OnUpdate(pear)"},
		)
		assert.Equal(t, "OnAdd: 4, OnUpdate: 1, no call: 2", figure(s, "Replaced"))
		assert.Equal(t, "OnDelete: 1", figure(s, "Deleted"))
		assert.Equal(t, 2, howOften(s, story.Handler, "(apple)"), "one addition, one update, and nothing for the second list")
	})
}

func TestResync(t *testing.T) {
	for _, form := range []string{gears.Fast, gears.Textbook} {
		set, err := gears.Parse(form)
		require.NoError(t, err)
		playWith(t, set, "resync", nil, func(t *testing.T, s story.State) {
			inOrder(t, s,
				beat{story.FIFO, "blue: Sync, from the store"},
				beat{story.FIFO, "Pop hands out red: U"},
				beat{story.FIFO, "Pop hands out blue: S"},
			)
			assert.Equal(t, "blue, green, grey", figure(s, "keys with a Sync"))
			assert.Equal(t, "0", figure(s, "requests meanwhile"))
			assert.Zero(t, howOften(s, story.FIFO, "red: Sync"))
		})
	}
}
