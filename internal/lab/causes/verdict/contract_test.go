package verdict_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/causes/verdict"
	"orrery/internal/lab/clustertest"
)

// need is what a proof must look at for a cause: the beginning of a path.
type need struct{ cause, path string }

// TestContract replays the verdicts on the namespaces of the lab.
func TestContract(t *testing.T) {
	t.Run("First", func(t *testing.T) {
		judge(t, "first", verdict.First, []need{
			{"C11", "/api/v1/namespaces/shop/pods"}, {"C11", "/api/v1/nodes"},
			{"C06", "/apis/external-secrets.io/v1alpha1/namespaces/shop/pushsecrets"},
			{"C06", "/apis/apps/v1/namespaces/external-secrets/deployments"},
		})
	})
	t.Run("Second", func(t *testing.T) {
		judge(t, "second", verdict.Second, []need{
			{"C07", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"}, {"C07", "/api/v1/namespaces/policy/services"},
			{"C15", "/api/v1/namespaces/shop/services"},
		})
	})
}

func judge(t *testing.T, name string, written func() verdict.Verdict, needs []need) {
	situation, ok := causes.Find(name)
	require.True(t, ok)
	t.Run("Causes", func(t *testing.T) {
		v := written()
		for _, id := range v.Causes {
			require.True(t, slices.Contains(situation.IDs(), id), "%s is not what keeps this namespace", id)
		}
		require.Len(t, v.Causes, len(situation.IDs()), "something else keeps this namespace as well")
		assert.Equal(t, situation.IDs(), v.Causes, "the other one acts first")
	})
	t.Run("Proof", func(t *testing.T) {
		v := written()
		for _, n := range needs {
			shown := slices.ContainsFunc(v.Proof, func(path string) bool { return strings.HasPrefix(path, n.path) })
			assert.True(t, shown, "something is missing in the proof of %s", n.cause)
		}
		stuck(t, situation, func(t *testing.T, c *clustertest.Cluster, _ *causes.World) {
			assert.NoError(t, v.Look(t.Context(), c.Admin()))
		})
	})
	t.Run("Remedy", func(t *testing.T) {
		v := written()
		stuck(t, situation, func(t *testing.T, c *clustertest.Cluster, w *causes.World) {
			require.NoError(t, v.Replay(t.Context(), c.Admin()))
			time.Sleep(3 * time.Minute)
			assert.Empty(t, situation.Intact(w), "after the remedy")
			assert.NoError(t, w.Err())
		})
	})
}

// stuck sets a situation up on a new server, in virtual time, and calls test when it has settled.
func stuck(t *testing.T, situation causes.Fixture, test func(t *testing.T, c *clustertest.Cluster, w *causes.World)) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := c.RunNamespaceController(ctx)
		w := causes.NewWorld(ctx, c.Admin())
		defer func() {
			cancel()
			w.Wait()
			<-ended
		}()
		time.Sleep(time.Second) // the kubelet registers its node
		situation.SetUp(w)
		require.NoError(t, w.Err())
		time.Sleep(causes.Settled)
		test(t, c, w)
	})
}
