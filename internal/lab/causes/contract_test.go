package causes_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/controller/gears"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
)

// needs are what a proof must look at for each cause: an object or list, or something in it.
var needs = map[string][]string{
	"C04": {"/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects", "/apis/apps/v1/namespaces/keda/deployments"},
	"C05": {"/apis/kafka.strimzi.io/v1alpha1/namespaces/shop/kafkatopics",
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"},
	"C06": {"/apis/external-secrets.io/v1alpha1/namespaces/shop/pushsecrets",
		"/apis/apps/v1/namespaces/external-secrets/deployments"},
	"C07": {"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		"/api/v1/namespaces/policy/services"},
	"C08": {"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"},
	"C09": {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/api/v1/namespaces/velero/services"},
	"C11": {"/api/v1/namespaces/shop/pods", "/api/v1/nodes"},
	"C12": {"/api/v1/namespaces/shop/pods", "/api/v1/nodes"},
	"C13": {"/api/v1/namespaces/shop/pods", "/apis/batch/v1/namespaces/shop/jobs"},
	"C15": {"/api/v1/namespaces/shop/services"},
	"C16": {onlyNamespace},
	"C18": {onlyNamespace},
}

// onlyNamespace is needed itself, and not what it holds.
const onlyNamespace = "/api/v1/namespaces/shop"

func shows(path, need string) bool {
	path, _, _ = strings.Cut(path, "?")
	return path == need || need != onlyNamespace && strings.HasPrefix(path, need+"/")
}

// TestContract replays the verdicts on the namespaces of the lab.
func TestContract(t *testing.T) {
	t.Run("First", func(t *testing.T) { judge(t, "first", func(v causes.Verdicts) yaml.Node { return v.First }) })
	t.Run("Second", func(t *testing.T) { judge(t, "second", func(v causes.Verdicts) yaml.Node { return v.Second }) })
}

func judge(t *testing.T, name string, of func(causes.Verdicts) yaml.Node) {
	all, err := causes.LoadVerdicts()
	require.NoError(t, err)
	v, err := causes.DecodeVerdict(of(all))
	require.NoError(t, err)
	situation := causes.OfCourse(name, all.Seed)
	t.Run("Causes", func(t *testing.T) {
		for _, id := range v.Causes {
			require.True(t, slices.Contains(situation.IDs(), id), "%s is not what keeps this namespace", id)
		}
		require.Len(t, v.Causes, len(situation.IDs()), "something else keeps this namespace as well")
		assert.Equal(t, situation.IDs(), v.Causes, "the other one acts first")
	})
	t.Run("Proof", func(t *testing.T) {
		for _, id := range situation.IDs() {
			for _, need := range needs[id] {
				shown := slices.ContainsFunc(v.Proof, func(path string) bool { return shows(path, need) })
				assert.True(t, shown, "something is missing in the proof of %s", id)
			}
		}
		settled(t, situation, func(t *testing.T, c *clustertest.Cluster, _ *causes.World) {
			assert.NoError(t, v.Look(t.Context(), c.Admin()))
		})
	})
	t.Run("Remedy", func(t *testing.T) {
		settled(t, situation, func(t *testing.T, c *clustertest.Cluster, w *causes.World) {
			require.NoError(t, v.Replay(t.Context(), c.Admin()))
			time.Sleep(3 * time.Minute)
			assert.Empty(t, situation.Intact(w), "after the remedy")
			assert.NoError(t, w.Err())
		})
	})
}

// settled calls test with a world on a server on which a situation has settled.
func settled(t *testing.T, f causes.Fixture, test func(t *testing.T, c *clustertest.Cluster, w *causes.World)) {
	inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
		test(t, c, causes.NewWorld(t.Context(), c.Admin()))
	})
}

// inWorld runs a test on a server in memory, in virtual time, with a namespace controller unless
// the fixture has none.
func inWorld(
	t *testing.T, f causes.Fixture, setUp func(*causes.World), settle time.Duration,
	test func(t *testing.T, c *clustertest.Cluster),
) {
	inWorldOf(t, gears.Set{}, f, setUp, settle, test)
}

// inWorldOf is inWorld with a controller of these gears.
func inWorldOf(
	t *testing.T, set gears.Set, f causes.Fixture, setUp func(*causes.World), settle time.Duration,
	test func(t *testing.T, c *clustertest.Cluster),
) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, apiserver.Config{Nodes: 2}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var running []<-chan struct{}
		w := causes.NewWorld(ctx, c.Admin())
		w.StartController = func() { running = append(running, c.RunNamespaceController(ctx, set)) }
		defer func() {
			cancel()
			w.Wait()
			for _, ended := range running {
				<-ended
			}
		}()
		if !f.NoController {
			w.StartController()
		}
		time.Sleep(time.Second) // the kubelet registers its node
		setUp(w)
		require.NoError(t, w.Err())
		time.Sleep(cmp.Or(settle, causes.Settled))
		test(t, c)
	})
}

// Each seed chooses two causes for each namespace, and the tests know what proves them. All pairs
// come up.
func TestSeeds(t *testing.T) {
	pairs := map[string]bool{}
	for seed := range uint64(causes.Seeds) {
		first, second := causes.OfCourse("first", seed+1), causes.OfCourse("second", seed+1)
		pairs[first.ID+" "+second.ID] = true
		for _, id := range append(first.IDs(), second.IDs()...) {
			assert.NotEmpty(t, needs[id], id)
		}
	}
	assert.Len(t, pairs, causes.Seeds)
	assert.Len(t, needs, 12)
	assert.Equal(t, causes.OfCourse("first", 1).ID, causes.OfCourse("first", 1+causes.Seeds).ID)
}
