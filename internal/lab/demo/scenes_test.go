package demo

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/observe/trace"
	"orrery/internal/words"
	"orrery/restclient/api"
	"orrery/wait"
)

// run is how a scene is played. The zero value plays it with the fast gears.
type run struct {
	set gears.Set
	// reader, if not nil, is in front of the page: the scene is recorded, in file if it has a name,
	// and has gates. It begins when the reader waits for something.
	reader func(ctx context.Context, s *Stage)
	file   string
	// intruder, if not nil, runs meanwhile. The story ends when both have returned.
	intruder func(ctx context.Context, s *Stage) error
}

// play plays a scene in a bubble, against the server in memory behind pipes, and passes the story
// to check.
func (r run) play(t *testing.T, name string, check func(t *testing.T, s State)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var others sync.WaitGroup
		defer others.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour) // a scene without an end fails then
		defer cancel()
		scene, err := Named(name)
		require.NoError(t, err)
		recorder, err := trace.Start(trace.Config{File: r.file, Header: trace.Header{
			Run: "lab demo", Mode: "lab", Clock: "virtual", Scene: name, Gears: r.set.String(),
			Workers: scene.Workers(),
		}})
		require.NoError(t, err)
		s := inBubble(t, name, Config{Out: io.Discard, Objects: 60, Gears: r.set, Recorder: recorder})
		if r.reader != nil {
			s.Gates = NewGates(ctx, s.Recorder)
			s.Gates.Guide(scene.Question())
			others.Go(func() { r.reader(ctx, s) })
			synctest.Wait()
		}
		if r.intruder != nil {
			others.Go(func() { assert.NoError(t, r.intruder(ctx, s)) })
		}
		err = s.run(ctx)
		state := s.Teller.State()
		defer func() {
			if t.Failed() {
				t.Log(toldOf(state))
			}
		}()
		require.NoError(t, err)
		if r.reader != nil {
			require.NoError(t, s.Recorder.Err())
			cancel()
		}
		others.Wait()
		switch {
		case r.reader != nil: // the reader's answer and pauses are in it, too
		case s.scene.Options.Bare:
			checkAlone(t, state)
		default:
			checkEveryScene(t, state)
		}
		if check != nil {
			check(t, state)
		}
	})
}

// toldOf returns the whole story, for the log of a failing test.
func toldOf(s State) string {
	var b strings.Builder
	for _, beat := range s.Beats {
		b.WriteString(beat.At.String() + " " + string(beat.Who) + ": " + beat.Text + "\n")
	}
	return b.String()
}

// beat returns the number of the actor's first beat that contains the words, from number from on,
// or -1.
func beat(s State, from int, who Who, words string) int {
	at := slices.IndexFunc(s.Beats[from:], func(b Beat) bool {
		return b.Who == who && strings.Contains(b.Text, words)
	})
	if at < 0 {
		return -1
	}
	return from + at
}

// howOften counts the actor's beats that contain the words.
func howOften(s State, who Who, words string) (n int) {
	for at := beat(s, 0, who, words); at >= 0; at = beat(s, at+1, who, words) {
		n++
	}
	return n
}

// figure returns a figure of the story.
func figure(s State, name string) string {
	i := slices.IndexFunc(s.Figures, func(row Row) bool { return row.Name == name })
	if i < 0 {
		return ""
	}
	return s.Figures[i].Text
}

var countedForm = regexp.MustCompile(`^(\d+) × (\S+)\s+(.*)$`)

// tells asserts what a story says. A line is one of
//
//	WHO WORDS       the actor's first beat with these words after the line before
//	N × WHO WORDS   how many of the actor's beats have these words
//	= NAME = TEXT   a figure
func tells(t *testing.T, s State, script string) {
	t.Helper()
	from := 0
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		name, text, isFigure := strings.Cut(strings.TrimPrefix(line, "= "), " = ")
		who, words, _ := strings.Cut(line, " ")
		switch times := countedForm.FindStringSubmatch(line); {
		case line == "":
		case times != nil:
			n, _ := strconv.Atoi(times[1])
			assert.Equal(t, n, howOften(s, Who(times[2]), times[3]), line)
		case isFigure && strings.HasPrefix(line, "= "):
			assert.Equal(t, text, figure(s, name), "the figure %q", name)
		default:
			words = strings.TrimSpace(words)
			at := beat(s, from, Who(who), words)
			require.GreaterOrEqual(t, at, 0, "after beat %d there is no beat %q of %s", from, words, who)
			from = at + 1
		}
	}
}

// checkEveryScene asserts what holds for every scene: it begins with a full namespace and ends
// without one, and the counters agree with the beats.
func checkEveryScene(t *testing.T, s State) {
	assert.Equal(t, Gone, s.Namespace.Phase)
	assert.Equal(t, "the end: the namespace and everything in it are gone", s.Now)
	assert.Len(t, s.Types, 10)
	for _, kind := range s.Types {
		assert.Zero(t, kind.Left, "%s are left", kind.Name)
		assert.Positive(t, kind.Most, "there were no %s", kind.Name)
	}
	assert.GreaterOrEqual(t, s.Total().Most, 60)
	tells(t, s, `
		you        kubectl create namespace shop
		reflector  ADDED shop
		deltafifo  the delta Added is queued
		deltafifo  popped with 1 delta: Added
		indexer    has the new state of shop; 
		you        kubectl delete namespace shop
		server     the phase is Terminating, spec.finalizers is 
		worker     pass 1 begins
		deleter    pods: all 
		deleter    crontabs: all 2 deleted
		deleter    updates the status: no condition blocks the deletion any more
		1 × reflector  DELETED shop
		1 × indexer    has removed shop`)
	finalized := howOften(s, Deleter, "through /finalize")
	assert.Equal(t, howOften(s, You, "kubectl delete namespace shop"), finalized)
	assert.GreaterOrEqual(t, beat(s, 0, Worker, "nothing more to do"), 0)

	g := s.Gears
	assert.Zero(t, g.Depth, "nothing waits in a FIFO")
	assert.Zero(t, g.Ready)
	assert.Zero(t, g.Busy)
	assert.Equal(t, g.Adds, g.Passes, "each key that is handed out is a pass")
	assert.GreaterOrEqual(t, g.Deltas, 2*60)
	assert.Equal(t, 10, g.Workers)

	// The controller does not begin before the grace period of 5 seconds is over.
	marked := beat(s, 0, Handler, "has a deletionTimestamp")
	looked := beat(s, 0, Worker, "pass 1 begins")
	require.True(t, 0 <= marked && marked < looked)
	assert.GreaterOrEqual(t, s.Beats[looked].At-s.Beats[marked].At, 5*time.Second)
}

// checkAlone asserts what holds for every scene on single gears.
func checkAlone(t *testing.T, s State) {
	assert.Equal(t, "the end", s.Now)
	assert.True(t, s.Alone)
	assert.NotEmpty(t, s.Panel)
	assert.NotEmpty(t, s.Figures)
	assert.LessOrEqual(t, len(s.Panel), 9, "the panel leaves room for the narration")
	assert.Less(t, s.Elapsed.Seconds(), 26.0)
}

// stories are what the scenes tell with the fast and with the textbook gears; see tells.
var stories = map[string]string{
	"delete": `
		deleter   pods: one deletecollection request
		worker    pass 1 ends
		deleter   pods: all 
		deleter   crontabs: one deletecollection request; 2 of 2 remain
		operator  removes the finalizer from
		deleter   crontabs: all 2 deleted`,
	"finalizer": `
		you       NamespaceFinalizersRemaining, because: Some content in the namespace has finalizers remaining: stable.example.com/backup
		worker    some content remains in the namespace, estimate 15 seconds
		operator  starts at last
		worker    nothing more to do
		1 × deleter  updates the status: NamespaceFinalizersRemaining`,
	"broken-apiservice": `
		you      kubectl get apiservice v1beta1.metrics.k8s.io: Available is False (ServiceNotFound)
		deleter  updates the status: NamespaceDeletionDiscoveryFailure
		queue    AddRateLimited(shop): failure 3, retry in 20ms
		deleter  configmaps: all 
		you      kubectl delete apiservice
		deleter  through /finalize`,
	"expired-watch": `
		you        kubectl -n shop delete configmaps
		reflector  410 Expired
		handler    has a deletionTimestamp
		1 × deltafifo  tombstone
		1 × reflector  MODIFIED shop, resourceVersion`,
	"slow-handler": `
		demo     a second handler is added to the informer of configmaps
		handler  0 for the quick one
		you      kubectl delete namespace
		handler  stale events still wait for the slow handler, 0 for the quick one`,
	// The finalizer exists before a server does, and until the server is gone.
	"virtualmachine": `
		operator  cache is Pending; its finalizers are []
		operator  cache is Active; its finalizers are [finalizer.cloudnative.tw]
		you       kubectl -n shop delete vms cache
		operator  cache: ServerDeleted
		server    the last finalizer of cache is removed
		you       get vms db -o yaml: status.phase is Active, metadata.finalizers [finalizer.cloudnative.tw], metadata.deletionTimestamp set: true
		you       finalizers remaining: finalizer.cloudnative.tw in 2 resource instances
		deleter   through /finalize
		1 × handler  arrives as an update that sets metadata.deletionTimestamp
		3 × operator  was deleted; its finalizers are [finalizer.cloudnative.tw]`,
	"stuck": `
		you       NamespaceContentRemaining, because: Some resources are remaining: pods. has
		you       NamespaceFinalizersRemaining, because: Some content in the namespace has finalizers remaining: 
		you       NamespaceDeletionContentFailure, because: Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "deny.policy.io"
		2 × you      kubectl delete namespace
		2 × deleter  secrets: all `,
	"worker-pool": `
		worker  not sliding: run 4 starts 1.6 s after the start and 0.0 s after the end of run 3
		worker  sliding: run 4 starts 2.6 s after the start and 1.0 s after the end of run 3
		worker  is back: its loop has begun run 2
		= pool = 15 passes and 1 panic; 3 workers, whose loops made 4 runs`,
	"two-queues": `
		deltafifo  DeltaFIFO, Pop 1: hotAUUUUUUUU; store hot@12, no version of the server
		deltafifo  in order, Pop 1: hotA; store hot@1, version 1
		= DeltaFIFO = 3 Pops, b in the store after Pop 3; of 12 states of the store, 10 were of no version of the server
		= in order = 12 Pops, b in the store after Pop 10; of 12 states of the store, 0 were of no version of the server`,
	"stall": `
		demo  second 3: closed none done; open none done
		demo  second 4: closed 101 done, slowest 1002 ms; open 200 done, slowest 1002 ms
		= closed loop = 501 events, p50 2 ms, p99 2 ms, max 1002 ms, 1 slow
		= open loop = 600 events, p50 2 ms, p99 956 ms, max 1002 ms, 113 slow`,
	// A message that speaks of an old version is no 410.
	"errors": `
		= create red = 429 TooManyRequests, 2 requests: the client repeats it after the delay
		= create red again = 409 AlreadyExists, 1 request: nothing is left to do
		= delete green = 404 NotFound, 1 request: nothing is left to do
		= update red = 409 Conflict, 1 request: read again, repeat the change
		= delete red = 500 InternalError, 1 request: try again later
		2 × server     the delete is refused
		1 × server     the delete is answered
		1 × reflector  410 Expired`,
	"two-ways-of-410": `
		= way 1 = HTTP 410, events: none; Status 410 Expired; then a list of 3 objects
		= way 2 = HTTP 200, events: ERROR; Status 410 Expired; then a list of 4 objects`,
	"index": `
		indexer  web-1 says n3, web-2 says n1; index n1: web-2; index n2: db, ! web-1; index n3: no set
		= after a change of the stored object = 1 wrong: the set of n2 has web-1, whose object says n3
		= after a new list = 0 wrong: the index is right`,
	// Ninety-nine equal sentences are one.
	"one-key": `
		queue  Add(shop/red): it is dirty now; a worker holds it, so it is not queued
		queue  Done(shop/red): it is dirty, so it is queued
		queue  Done(shop/red): it is not dirty
		1 × queue  dirty already
		= Adds of shop/red = 101, of which 99 found it dirty
		= passes over shop/red = 2
		= workers at once = 1 of 3`,
	"back-off": `
		queue  Forget(shop/web): its next failure is failure 1
		= delays of shop/web = 200ms, 400ms, 800ms, 1.6s, 3.2s, 6.4s, 200ms`,
	"slow-consumer": `
		deltafifo  the list lacks 
		= Pops of shop/red = 1: 6 deltas: Updated, Updated, Updated, Updated, Updated, Deleted
		= in the store = 2 objects`,
	"store-decides": `
		indexer    shop/apple: Replaced; the store has this version: no call
		indexer    shop/pear: Replaced; the store had another version: OnUpdate
		= Replaced, OnAdd = 4
		= Replaced, no call = 2
		= Deleted (tombstone), OnDelete = 1`,
}

// also are what else is asserted of a scene.
var also = map[string]func(t *testing.T, s State){
	"delete": func(t *testing.T, s State) { // pods are deleted first, and the rest once they are gone
		pods := beat(s, 0, Deleter, "pods: all ")
		for _, other := range []string{"configmaps", "secrets", "services", "leases", "roles"} {
			assert.Greater(t, beat(s, 0, Deleter, other+": all "), pods, "%s outlive the pods", other)
		}
		assert.Equal(t, 3, s.Gears.Passes)
		assert.Zero(t, s.Gears.Expired+s.Gears.Retries)
		assert.Equal(t, 11, s.Gears.Lists, "one for each type and one for namespaces")
	},
	"finalizer": func(t *testing.T, s State) {
		assert.Zero(t, s.Gears.Retries, "waiting is no failure")
	},
	"slow-handler": func(t *testing.T, s State) {
		assert.Greater(t, max(s.Lines[0].Most, s.Lines[1].Most), 10, "events pile up for the slow one")
	},
	"broken-apiservice": func(t *testing.T, s State) {
		assert.Equal(t, s.Gears.Retries+1, s.Gears.Passes)
		assert.GreaterOrEqual(t, s.Gears.Retries, 11)
	},
	"expired-watch": func(t *testing.T, s State) {
		assert.Equal(t, 11, s.Gears.Expired)
		assert.Equal(t, 22, s.Gears.Lists)
		assert.Positive(t, s.Gears.Tombstones)
	},
	"virtualmachine": func(t *testing.T, s State) {
		assert.Equal(t, []Type{{Name: "servers outside", Left: 0, Most: 3}}, s.Lines)
	},
	"worker-pool": func(t *testing.T, s State) {
		line := "1█░░░░░░2██░░░░░░3██████████░░░░░░4██░░░░░░5██░░░░░░6█░"
		assert.Equal(t, Row{Name: "sliding", Text: line}, s.Panel[0])
		assert.True(t, wait.ReallyCrash.Load(), "the scene restores the switch")
	},
	"errors": func(t *testing.T, s State) {
		assert.Regexp(t, "^429 TooManyRequests, .*: watch again from the same position$", figure(s, "watch"))
		assert.Regexp(t, "^410 Expired, .*: list again$", figure(s, "watch again"))
	},
}

// Every scene is played to its end with every form of every gear, and proves its figures. With the
// fast and with the textbook gears it tells its story. Each gear alone as its textbook takes long.
func TestScenes(t *testing.T) {
	sets := []string{gears.Fast, gears.Textbook, "deltafifo=inorder", "textbook,deltafifo=inorder"}
	for _, gear := range gears.Names() {
		if !testing.Short() {
			sets = append(sets, gear+"=textbook")
		}
	}
	for _, text := range sets {
		set, err := gears.Parse(text)
		require.NoError(t, err)
		for _, scene := range All() {
			t.Run(text+"/"+scene.Name, func(t *testing.T) {
				run{set: set}.play(t, scene.Name, func(t *testing.T, s State) {
					if text != gears.Fast && text != gears.Textbook {
						return
					}
					tells(t, s, stories[scene.Name])
					if more := also[scene.Name]; more != nil {
						more(t, s)
					}
				})
			})
		}
	}
	assert.Len(t, stories, len(All()), "each scene has its story here")
}

// The scene's advice works: deleting the APIService in another terminal ends the hang.
func TestBrokenAPIServiceIsDeletedByAnotherClient(t *testing.T) {
	deletes := func(ctx context.Context, s *Stage) error {
		failed := await(func(s *State) bool { return s.Gears.Retries >= 4 })
		return cmp.Or(failed(s, ctx), s.objectsOf(apiServices, "").Delete(ctx, BrokenAPI, api.DeleteOptions{}))
	}
	run{intruder: deletes}.play(t, "broken-apiservice", func(t *testing.T, s State) {
		tells(t, s, `
			deleter  some are missing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1
			deleter  through /finalize
			you      is already gone: another client deleted it`)
		assert.Less(t, s.Gears.Retries, 11)
	})
}

// The texts of a scene are complete, and the files that it names exist.
func TestScenesAreComplete(t *testing.T) {
	for _, scene := range All() {
		said := scene.Words()
		assert.Regexp(t, `^[A-Z].*[.]$`, said.Happens.English)
		assert.Regexp(t, `^Watch .*[.]$`, said.Look.English)
		assert.GreaterOrEqual(t, len(said.Learnt), 3)
		both := append([]words.Text{said.Summary, said.Happens, said.Look}, said.Learnt...)
		for _, reading := range said.Read {
			assert.FileExists(t, filepath.Join("../../..", reading.File))
			both = append(both, reading.Text)
		}
		for _, text := range both {
			assert.True(t, text.Complete(), "%s in both languages", text.English)
		}
	}
}
