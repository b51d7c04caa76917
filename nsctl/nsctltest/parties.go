package nsctltest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// stateOf returns the fields of a namespace that the example of the design document changes: its
// phase, "deleted" if it has a deletion timestamp, and its finalizers.
func stateOf(t *testing.T, namespace *api.Namespace) string {
	t.Helper()
	require.NotNil(t, namespace)
	deleted := map[bool]string{true: " deleted"}[namespace.DeletionTimestamp != nil]
	return fmt.Sprint(namespace.Status.Phase, deleted, " ", namespace.Spec.Finalizers)
}

// wantOwnToken is for a pass over a namespace that has the token of another party, too.
const wantOwnToken = "a party whose content is gone removes its own token, whatever other tokens there are"

const (
	first  = api.FinalizerKubernetes
	second = "openshift.com/origin"
)

// parties are the deleters of two controllers, of one form, on one cluster, by their tokens. The
// second party stores its content outside the API server; here that is another cluster.
type parties struct {
	*Cluster
	own      *Cluster
	deleters map[string]DeleterUnderTest
}

func (s suite) newParties(t *testing.T) parties {
	c, own := NewCluster(), NewCluster()
	own.Types = map[string][]string{"build.openshift.com/v1": {"builds"}}
	return parties{Cluster: c, own: own, deleters: map[string]DeleterUnderTest{
		first:  s.newDeleter(t, c),
		second: s.newDeleter(t, c, secondParty(t, own)),
	}}
}

// secondParty gives a deleter a token, a content client and types of its own.
func secondParty(t *testing.T, own *Cluster) func(*nsctl.DeleterConfig) {
	client := NewClient(t, own)
	return func(config *nsctl.DeleterConfig) {
		config.FinalizerToken = second
		config.Content, config.Discovery = nsctl.NewContentClient(client), NewDiscovery(client)
	}
}

const build = "builds.build.openshift.com"

// fill creates content of each party in the namespace.
func (p parties) fill(namespace string) {
	p.Put("configmaps.", namespace, "a")
	p.own.Put(build, namespace, "a")
}

// lastChange returns the namespace of the latest watch event.
func (p parties) lastChange() change {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes[len(p.changes)-1]
}

// The example of the design document, state by state: the party that finishes first removes its own
// token, and the last token removed ends the namespace.
func (s suite) TwoPartiesFinishInEitherOrder(t *testing.T) {
	for _, order := range [][]string{{first, second}, {second, first}} {
		t.Run(order[0], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := s.newParties(t)
				p.AddNamespace("development", false, second, first)
				p.fill("development")
				p.fill("bystander")
				assert.Equal(t, "Active [openshift.com/origin kubernetes]", stateOf(t, p.Namespace("development")))

				p.Terminate("development")
				both := "Terminating deleted [openshift.com/origin kubernetes]"
				assert.Equal(t, both, stateOf(t, p.Namespace("development")))

				require.NoError(t, p.deleters[order[0]].Delete(t.Context(), "development"))
				half := "Terminating deleted [" + order[1] + "]"
				assert.Equal(t, half, stateOf(t, p.Existing(t, "development")))
				left := map[string][]string{first: p.Left("development"), second: p.own.Left("development")}
				assert.Empty(t, left[order[0]])
				assert.Len(t, left[order[1]], 1, "content of the other party was deleted")

				p.Log()
				require.NoError(t, p.deleters[order[0]].Delete(t.Context(), "development"))
				assert.Empty(t, writes(p.Log()), "the first to finish has nothing more to do")

				require.NoError(t, p.deleters[order[1]].Delete(t.Context(), "development"))
				p.AssertGone(t, "development")
				end := p.lastChange()
				assert.Equal(t, api.WatchDeleted, end.eventType)
				assert.Equal(t, "Terminating deleted []", stateOf(t, end.namespace))
				assert.Empty(t, p.Left("development"))
				assert.Empty(t, p.own.Left("development"))
				assert.Equal(t, []string{"configmaps./a"}, p.Left("bystander"))
				assert.Equal(t, []string{build + "/a"}, p.own.Left("bystander"))
			})
		})
	}
}

// Only the first party sets the phase and the conditions. The second sends the API server reads and
// a finalize, whatever happens in its own storage.
func (s suite) ASecondPartyOnlyRemovesItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const get, finalize = "GET /api/v1/namespaces/ns", putFinalize
		p := s.newParties(t)
		p.AddNamespace("ns", true, second, first)
		// a server that leaves the phase to the first party
		older := func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive }
		p.Update("ns", older)
		p.own.Put(build, "ns", "held", WithFinalizers("openshift.com/hold"))

		requireRemaining(t, p.deleters[second].Delete(t.Context(), "ns"))
		assert.Equal(t, []string{get}, slices.Compact(p.Log()),
			"a second party whose content remains only reads the namespace")

		p.own.Refuse(func(*http.Request) *api.Status {
			return Status(500, api.ReasonInternalError,
				"the storage is down")
		})
		var failed *nsctl.ContentError
		require.ErrorAs(t, p.deleters[second].Delete(t.Context(), "ns"), &failed,
			"want the failure of the party's own storage as a *ContentError")
		assert.Equal(t, []string{get}, slices.Compact(p.Log()),
			"a second party whose storage fails only reads the namespace")

		p.own.Refuse(nil)
		p.own.Release(build, "ns", "held")
		require.NoError(t, p.deleters[second].Delete(t.Context(), "ns"), wantOwnToken)
		assert.Equal(t, []string{get, finalize}, slices.Compact(p.Log()),
			"a second party reads the namespace and finalizes it, and no more")
		assert.Equal(t, api.NamespaceActive, p.Existing(t, "ns").Status.Phase, "a second party leaves the phase alone")
		assert.Empty(t, p.Existing(t, "ns").Status.Conditions, "a second party writes no conditions")
	})
}

// The tokens of others stay, sorted and without duplicates, whichever party removes its own.
func (s suite) EachPartyRemovesOnlyItsOwnToken(t *testing.T) {
	for _, order := range [][]string{{first, second}, {second, first}} {
		token, other := order[0], order[1]
		t.Run(token, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := s.newParties(t)
				p.AddNamespace("ns", true, second, "z.example/third", first, "a.example/fourth", second, first)
				require.NoError(t, p.deleters[token].Delete(t.Context(), "ns"), wantOwnToken)
				want := []string{"a.example/fourth", other, "z.example/third"}
				slices.Sort(want)
				assert.Equal(t, want, p.Existing(t, "ns").Spec.Finalizers,
					"the tokens of others stay, sorted and each once")

				p.AddNamespace("without", true, other)
				require.NoError(t, p.deleters[token].Delete(t.Context(), "without"),
					"a namespace without the party's token needs nothing from it")
				assert.Equal(t, []string{other}, p.Existing(t, "without").Spec.Finalizers,
					"a namespace without the party's token stays as it is")
			})
		})
	}
}

// AnswersAreLeftAsTheyAre: what a client has returned belongs to the client, which may keep it.
func (s suite) AnswersAreLeftAsTheyAre(t *testing.T, c *Cluster) {
	c.AddNamespace("ns", true, "b.example/other", first, "a.example/other")
	kept := keepingClient{answers: map[*api.Namespace][]string{}}
	deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) {
		kept.NamespaceClient = config.Namespaces
		config.Namespaces = kept
	})
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	require.NotEmpty(t, kept.answers)
	for answer, before := range kept.answers {
		assert.Equal(t, before, answer.Spec.Finalizers, "the finalizers of an answer were changed")
	}
}

// keepingClient keeps its answers, with what their finalizers were.
type keepingClient struct {
	nsctl.NamespaceClient
	answers map[*api.Namespace][]string
}

func (c keepingClient) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error) {
	return c.keep(c.NamespaceClient.Get(ctx, name, opts))
}

func (c keepingClient) UpdateStatus(ctx context.Context, namespace *api.Namespace,
	opts api.UpdateOptions) (*api.Namespace, error) {
	return c.keep(c.NamespaceClient.UpdateStatus(ctx, namespace, opts))
}

func (c keepingClient) keep(namespace *api.Namespace, err error) (*api.Namespace, error) {
	if err == nil {
		c.answers[namespace] = slices.Clone(namespace.Spec.Finalizers)
	}
	return namespace, err
}
