package informers_test

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
	rounds         = 10
	writesPerRound = 1000
	writersAtOnce  = 4
)

// compactions are the rounds in which history is forgotten. Each is an error to a reflector, which then waits twice as
// long as the time before, up to half a minute.
var compactions = map[int]bool{1: true, 4: true, 7: true}

// TestInformersStayEqual is what the package's documentation tells.
func TestInformersStayEqual(t *testing.T) {
	server, err := served.Start(t.Context(), served.Config{Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	followers, authors := newClients(t, server.Kubeconfig()), newClients(t, server.Kubeconfig())
	authors.defineWidgets(t)

	// client-go can check for itself that a streaming list and a list agree. It panics if they do not.
	t.Cleanup(consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true))
	var all []*watched
	for _, streaming := range []bool{true, false} {
		all = append(all, startInformers(t, followers, streaming)...)
	}

	seed := seedOf(t)
	source := newWriters(authors, seed)
	disturbances := rand.New(rand.NewPCG(seed, 1))
	for round := range rounds {
		begun := time.Now()
		disturbed := make(chan error, 1)
		target := (round + 1) * writesPerRound
		go func() {
			// In the middle of the round: a watch that has told of nothing and breaks at once counts as an error.
			at := target - writesPerRound/2 + disturbances.IntN(writesPerRound/4)
			disturbed <- disturb(t.Context(), server, source, at, compactions[round])
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
		t.Logf("%s: %d objects, %d beginnings, told of %s", w.name, len(w.informer.GetStore().List()), w.beginnings.Load(), w.history.counts())
		beginnings := w.beginnings.Load()
		assert.Greater(t, beginnings, int64(len(compactions)), "%s: it had to begin anew after each compaction", w.name)
		if w.streaming {
			assert.Equal(t, beginnings, w.streams.Load(), "%s: it streams its lists", w.name)
		} else {
			assert.Zero(t, w.streams.Load(), "%s: it does not stream its lists", w.name)
		}
	}
	t.Logf("what was written: %s", source.summary())
}

// disturb waits until so much has been written, and then cuts all watches. If history is to be forgotten they come back only
// when that has happened, and more has been written before: then none of them can be resumed.
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

// startInformers starts one informer of each sort, and waits until they have synced.
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

// awaitEqual waits until an informer's store and what its handler was told are equal to what the server lists.
func awaitEqual(t *testing.T, server *served.Server, w *watched) {
	t.Helper()
	await(t, server.Failed(), w.name+" equals the server", func() error {
		want, err := w.list(t.Context())
		if err != nil {
			return err
		}
		return w.compare(want)
	})
}

// patience is reached only by a test that fails. A reflector that was turned away three times waits for up to 13 s.
const patience = 10 * time.Minute

// await asks until there is no error.
func await(t *testing.T, dead <-chan struct{}, what string, check func() error) {
	t.Helper()
	deadline := time.After(patience)
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
			require.NoError(t, err, "waited in vain until %s", what)
		}
	}
}

// seedOf returns the seed of the dice: the one of the environment or a new one, which is logged.
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
