package scenes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

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
	withSets(t, name, check, gears.Fast, gears.Textbook)
}

// withSets plays a scene with sets of gears.
func withSets(t *testing.T, name string, check func(t *testing.T, s story.State), sets ...string) {
	for _, text := range sets {
		t.Run(text, func(t *testing.T) {
			set, err := gears.Parse(text)
			require.NoError(t, err)
			playWith(t, set, name, nil, check)
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
	withSets(t, "two-queues", check, gears.Fast, gears.Textbook, "textbook,deltafifo=inorder")
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

func TestErrors(t *testing.T) {
	bothForms(t, "errors", func(t *testing.T, s story.State) {
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

func TestTwoWaysOf410(t *testing.T) {
	bothForms(t, "two-ways-of-410", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Server, "the watch is refused with HTTP 410, Expired: too old"},
			beat{story.Reflector, "410 Expired"},
			beat{story.Server, "the watch is answered with HTTP 200"},
			beat{story.Server, "an event in the stream: ERROR"},
			beat{story.Reflector, "410 Expired"},
		)
		assert.Equal(t, "HTTP 410, events: none; Status 410 Expired; then a list of 3 objects", figure(s, "way 1"))
		assert.Equal(t, "HTTP 200, events: ERROR; Status 410 Expired; then a list of 4 objects", figure(s, "way 2"))
	})
}

func TestIndex(t *testing.T) {
	bothForms(t, "index", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Indexer, "index n1: web-1, web-2; index n2: db; index n3: no set"},
			beat{story.Indexer, "index n1: web-2; index n2: db, web-1; index n3: no set"},
			beat{story.Demo, "a reader sets the node of the stored web-1 to n3"},
			beat{story.Indexer, "web-1 says n3, web-2 says n1; index n1: web-2; index n2: db, ! web-1; index n3: no set"},
			beat{story.Demo, "Update stores a new object of web-1, with node n1"},
			beat{story.Demo, "Replace stores the list"},
			beat{story.Indexer, "index n1: web-1, web-2; index n2: db; index n3: no set"},
		)
		assert.Equal(t, "1 wrong: the set of n2 has web-1, whose object says n3",
			figure(s, "after a change of the stored object"))
		assert.Equal(t, "0 wrong: the index is right", figure(s, "after a new list"))
	})
}

// onBareStage plays a scene with a plain controller with the fast and with the textbook gears. With
// the queue in order it only has to prove its figures.
func onBareStage(t *testing.T, name string, check func(t *testing.T, s story.State)) {
	bothForms(t, name, check)
	withSets(t, name, func(t *testing.T, s story.State) { assert.NotEmpty(t, s.Figures) }, "deltafifo=inorder")
}

func TestOneKey(t *testing.T) {
	onBareStage(t, "one-key", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Queue, "Add(shop/red): it is dirty now, and queued"},
			beat{story.Queue, "Get returns shop/red"},
			beat{story.Queue, "Add(shop/red): it is dirty now; a worker holds it, so it is not queued"},
			beat{story.Queue, "Add(shop/red): it is dirty already"},
			beat{story.Queue, "Done(shop/red): it is dirty, so it is queued"},
			beat{story.Queue, "Get returns shop/red"},
			beat{story.Queue, "Done(shop/red): it is not dirty"},
		)
		assert.Equal(t, 1, howOften(s, story.Queue, "dirty already"), "ninety-nine equal sentences are one")
		assert.Equal(t, "101, of which 99 found it dirty", figure(s, "Adds of shop/red"))
		assert.Equal(t, "2", figure(s, "passes over shop/red"))
		assert.Equal(t, "1 of 3", figure(s, "workers at once"))
	})
}

func TestBackOff(t *testing.T) {
	onBareStage(t, "back-off", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Queue, "AddRateLimited(shop/web): failure 6, retry in 6.4s"},
			beat{story.Queue, "Forget(shop/web): its next failure is failure 1"},
			beat{story.Queue, "AddRateLimited(shop/web): failure 1, retry in 200ms"},
			beat{story.Queue, "Forget(shop/web): its next failure is failure 1"},
		)
		assert.Equal(t, "200ms, 400ms, 800ms, 1.6s, 3.2s, 6.4s, 200ms", figure(s, "delays of shop/web"))
	})
}

func TestSlowConsumer(t *testing.T) {
	onBareStage(t, "slow-consumer", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.FIFO, "shop/red: the delta Updated is queued"},
			beat{story.FIFO, "shop/red: the delta Deleted is queued"},
			beat{story.FIFO, "the list lacks "},
			beat{story.FIFO, "shop/red: popped with 6 deltas: Updated, Updated, Updated, Updated, Updated, Deleted"},
		)
		assert.Contains(t, figure(s, "Pops of shop/red"), "1: 6 deltas: ")
		assert.Equal(t, "2 objects", figure(s, "in the store"))
	})
}

func TestStoreDecides(t *testing.T) {
	onBareStage(t, "store-decides", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Indexer, "shop/apple: Replaced; the store lacked it: OnAdd"},
			beat{story.Indexer, "shop/fig: Added; the store lacked it: OnAdd"},
			beat{story.Reflector, "410 Expired"},
			beat{story.Indexer, "shop/apple: Replaced; the store has this version: no call"},
			beat{story.Indexer, "shop/pear: Replaced; the store had another version: OnUpdate"},
		)
		assert.Equal(t, "4", figure(s, "Replaced, OnAdd"))
		assert.Equal(t, "2", figure(s, "Replaced, no call"))
		assert.Equal(t, "1", figure(s, "Deleted (tombstone), OnDelete"))
	})
}

func TestResync(t *testing.T) {
	onBareStage(t, "resync", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.FIFO, "shop/blue: the delta Sync is queued"},
			beat{story.FIFO, "shop/red: popped with 1 delta: Updated"},
			beat{story.FIFO, "shop/blue: popped with 1 delta: Sync"},
		)
		assert.Equal(t, "blue, green, grey", figure(s, "keys with a Sync"))
		assert.Equal(t, "0", figure(s, "requests meanwhile"))
		assert.Zero(t, howOften(s, story.FIFO, "red: the delta Sync"))
	})
}
