package served_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/util/consistencydetector"

	"orrery/upstream/apiserver/served"
)

const (
	writesPerRound = 1000
	writersAtOnce  = 4
)

// rounds are ten with "make nightly", and otherwise half of them.
func rounds() int {
	if os.Getenv("E2E_MATRIX") == "whole" {
		return 10
	}
	return 5
}

// compacts reports whether a round compacts history. Each compaction is an error to a reflector,
// which doubles its back-off, up to half a minute.
func compacts(round int) bool { return round%3 == 1 }

// client-go's shared informers against "lab serve": those of its typed, dynamic and metadata
// clients, with and without streaming lists and selectors, follow the server while several writers
// change objects of several types at random, watches are cut and history is compacted. Whenever the
// writers pause, every store must converge to a consistent list of the server, and so must the
// history of each handler. A failed test prints its seed; ORRERY_SEED repeats the random choices,
// not their timing.
func TestInformersStayEqual(t *testing.T) {
	server, err := served.Start(t.Context(), served.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	followers, authors := newClients(t, server.Kubeconfig()), newClients(t, server.Kubeconfig())
	authors.defineWidgets(t)

	// client-go panics if a streaming list and a list differ.
	t.Cleanup(consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true))
	var all []*watched
	for _, streaming := range []bool{true, false} {
		all = append(all, startInformers(t, followers, streaming)...)
	}

	seed := seedOf(t)
	source := newWriters(authors, seed)
	disturbances := rand.New(rand.NewPCG(seed, 1))
	compactions := int64(0)
	for round := range rounds() {
		if compacts(round) {
			compactions++
		}
		begun := time.Now()
		disturbed := make(chan error, 1)
		target := (round + 1) * writesPerRound
		go func() {
			// In the middle of the round: a watch that breaks before its first event counts as an
			// error.
			at := target - writesPerRound/2 + disturbances.IntN(writesPerRound/4)
			disturbed <- disturb(t.Context(), server, source, at, compacts(round))
		}()
		require.NoError(t, source.writeUntil(t.Context(), writersAtOnce, target))
		require.NoError(t, <-disturbed)
		wrote := time.Since(begun)
		for _, w := range all {
			awaitEqual(t, server, w)
		}
		t.Logf("round %d: written in %v, equal after %v", round, wrote, time.Since(begun))
	}

	for _, w := range all {
		t.Logf("%s: %d objects, %d lists, %d events", w.name, len(w.informer.GetStore().List()), w.beginnings.Load(),
			w.history.Count())
		beginnings := w.beginnings.Load()
		assert.Greater(t, beginnings, compactions, "%s: it lists again after each compaction", w.name)
		if w.streaming {
			assert.Equal(t, beginnings, w.streams.Load(), "%s: it streams its lists", w.name)
		} else {
			assert.Zero(t, w.streams.Load(), "%s: it does not stream its lists", w.name)
		}
	}
}

// disturb waits for a number of writes and then cuts all watches. To compact history it holds new
// watches up until more has been written and compacted, so that no watch can be resumed.
func disturb(ctx context.Context, server *served.Server, source *writers, at int, compact bool) error {
	if err := source.await(ctx, at); err != nil {
		return err
	}
	if !compact {
		_, err := server.Add(ctx, "cut-watches")
		return err
	}
	busy, err := server.Add(ctx, "too-many-requests:verb=watch,retry-after=1s")
	if err != nil {
		return err
	}
	if _, err := server.Add(ctx, "cut-watches"); err != nil {
		return err
	}
	if err := source.await(ctx, at+writesPerRound/10); err != nil {
		return err
	}
	if _, err := server.Add(ctx, "compact"); err != nil {
		return err
	}
	return server.Remove(ctx, busy)
}

// startInformers starts one informer of each sort and waits until they have synced.
func startInformers(t *testing.T, clients *clients, streaming bool) []*watched {
	t.Helper()
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, streaming)
	all := clients.informers(t, streaming)
	for _, w := range all {
		w.start(t)
	}
	for _, w := range all {
		await(t, nil, w.name+" has synced", func() error {
			if !w.informer.HasSynced() {
				return fmt.Errorf("not yet: %v", w.lastError())
			}
			return nil
		})
	}
	return all
}

// awaitEqual blocks until an informer's store and its handler's history equal the server's list.
func awaitEqual(t *testing.T, server *served.Server, w *watched) {
	t.Helper()
	await(t, server.Done(), w.name+" equals the server", func() error { return w.compare(t.Context()) })
}

// waitTimeout is reached only by a failing test. After three errors a reflector waits for up to 13
// s.
const waitTimeout = 10 * time.Minute

// await polls until check returns nil.
func await(t *testing.T, dead <-chan struct{}, what string, check func() error) {
	t.Helper()
	deadline := time.After(waitTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-dead:
			require.Fail(t, "the server died while waiting until "+what)
		case <-deadline:
			require.NoError(t, err, "timed out waiting until %s", what)
		}
	}
}

// seedOf returns the seed in the environment or a new one, and logs it.
func seedOf(t *testing.T) uint64 {
	seed := rand.Uint64()
	if text := os.Getenv("ORRERY_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("ORRERY_SEED=%d", seed)
	return seed
}
