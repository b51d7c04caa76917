package nsctl_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// deleterFor returns a deleter that speaks to a server through a client of its own.
func deleterFor(client *restclient.Client) *nsctl.Deleter {
	return nsctl.NewDeleter(nsctl.DeleterConfig{
		Namespaces: restclient.Typed[*api.Namespace](client, api.NamespacesResource, ""),
		Content:    nsctl.NewContentClient(client), Discovery: newDiscovery(client),
	})
}

// pages serves the ConfigMaps of a cluster in pages of one object, whatever the client asks for, and takes its time. It may
// let all of its tokens expire.
type pages struct {
	*cluster
	expire bool
	asked  atomic.Int32
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/ns/configmaps") {
		p.cluster.ServeHTTP(w, r)
		return
	}
	p.asked.Add(1)
	time.Sleep(time.Second)
	token := r.URL.Query().Get("continue")
	if token != "" && p.expire {
		answer(w, 410, status(410, api.ReasonExpired, "the continue token is too old"))
		return
	}
	items := p.left("ns")
	list := api.List[*item]{TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
	list.ResourceVersion = "1"
	for i, name := range items {
		if fmt.Sprint("after ", i-1) != token && (i > 0 || token != "") {
			continue
		}
		list.Items = []*item{{Metadata: api.ObjectMeta{Name: name, Namespace: "ns", Finalizers: []string{"example.com/hold"}}}}
		if i < len(items)-1 {
			list.Continue = fmt.Sprint("after ", i)
		}
	}
	answer(w, 200, list)
}

// What is left is counted over all pages.
func TestWhatIsLeftIsCountedOverAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		for i := range 3 {
			c.put("configmaps.", "ns", fmt.Sprint("held-", i), withFinalizers("example.com/hold"))
		}
		deleter := deleterFor(newClient(t, &pages{cluster: c}))
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, "Some resources are remaining: configmaps. has 3 resource instances",
			conditionOf(c.namespace("ns"), api.NamespaceContentRemaining).Message)
	})
}

// A server that sends pages although none were asked for, and forgets where they go on, cannot be read. That is a failure,
// not an empty list, and no reason to ask it without end.
func TestAListThatExpiresAgainAndAgainIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "a", withFinalizers("example.com/hold"))
		c.put("configmaps.", "ns", "b", withFinalizers("example.com/hold"))
		server := &pages{cluster: c, expire: true}
		ctx, giveUp := context.WithTimeout(t.Context(), time.Minute) // of virtual time: a server that is asked without end is slow
		defer giveUp()
		err := deleterFor(newClient(t, server)).Delete(ctx, "ns")
		assert.True(t, api.IsExpired(err), "%v", err)
		assert.Less(t, server.asked.Load(), int32(10))
		require.NotNil(t, c.namespace("ns"))
		assert.Equal(t, api.ConditionTrue, conditionOf(c.namespace("ns"), api.NamespaceDeletionContentFailure).Status)
	})
}

// A status that somebody else has written meanwhile is written on the new state, and what they wrote stays.
func TestConflictingReportsAreWrittenOnTheNewState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "held", withFinalizers("example.com/hold"))
		mine := api.NamespaceCondition{Type: "example.com/Mine", Status: api.ConditionTrue, Reason: "Because"}
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") && len(c.namespace("ns").Status.Conditions) == 0 {
				c.update("ns", func(ns *api.Namespace) { ns.Status.Conditions = []api.NamespaceCondition{mine} })
			}
			return nil
		})
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, newDeleter(t, c).Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, mine, conditionOf(c.namespace("ns"), mine.Type))
		assert.Equal(t, api.ConditionTrue, conditionOf(c.namespace("ns"), api.NamespaceContentRemaining).Status)
	})
}

// A namespace that is re-created while the report about the old one is on its way gets no report, and keeps its token.
func TestAReportAboutARecreatedNamespaceIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes", "example.com/other")
		recreated := false
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") && !recreated {
				recreated = true
				c.addNamespace("ns", false, "kubernetes")
			}
			return nil
		})
		var changed *nsctl.UIDChangedError
		require.ErrorAs(t, newDeleter(t, c).Delete(t.Context(), "ns"), &changed)
		assert.Empty(t, c.namespace("ns").Status.Conditions)
		assert.Equal(t, []string{"kubernetes"}, c.namespace("ns").Spec.Finalizers)
	})
}

// What servers answer to a request that they do not carry out, whatever they call it: the type is not empty, the pass has
// failed, the rest goes, and so does the namespace when it is over.
func TestEachRefusalOfACollectionIsAFailure(t *testing.T) {
	for _, refusal := range []*api.Status{
		status(400, api.ReasonBadRequest, "what is that"), status(401, api.ReasonUnauthorized, "who are you"), status(403, api.ReasonForbidden, "no"),
		status(409, api.ReasonConflict, "somebody else"), status(410, api.ReasonGone, "gone"), status(410, api.ReasonExpired, "too old"),
		status(413, api.ReasonRequestEntityTooLarge, "too large"), status(415, api.ReasonUnsupportedMediaType, "what"), status(422, api.ReasonInvalid, "invalid"),
		status(429, api.ReasonTooManyRequests, "not so fast"), status(500, api.ReasonInternalError, "failed calling webhook: context deadline exceeded"),
		status(502, "", "bad gateway"), status(503, api.ReasonServiceUnavailable, "not now"), status(504, api.ReasonTimeout, "too late"),
	} {
		for _, method := range []string{http.MethodDelete, http.MethodGet} {
			t.Run(fmt.Sprint(method, " ", refusal.Code, " ", refusal.Reason), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCluster()
					c.addNamespace("ns", true, "kubernetes")
					c.put("secrets.", "ns", "s", withFinalizers("example.com/hold"))
					c.put("configmaps.", "ns", "c")
					c.refuse(func(r *http.Request) *api.Status {
						if r.Method == method && strings.HasSuffix(r.URL.Path, "/secrets") {
							return refusal
						}
						return nil
					})
					deleter := newDeleter(t, c)
					var resource *nsctl.ResourceError
					require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource)
					assert.Equal(t, "secrets", resource.Resource.Resource)
					require.NotNil(t, c.namespace("ns"))
					assert.Equal(t, []string{"secrets./s"}, c.left("ns"))
					assert.Contains(t, conditionOf(c.namespace("ns"), api.NamespaceDeletionContentFailure).Message, refusal.Message)

					c.refuse(nil)
					c.release("secrets.", "ns", "s")
					require.NoError(t, deleter.Delete(t.Context(), "ns"))
					assert.Nil(t, c.namespace("ns"))
				})
			})
		}
	}
}

// A status that is too large for the server, or that it does not take for another reason, holds nothing up.
func TestAReportThatIsRefusedDoesNotHoldTheNamespace(t *testing.T) {
	for _, refusal := range []*api.Status{
		status(413, api.ReasonRequestEntityTooLarge, "too large"), status(409, api.ReasonConflict, "for ever"), status(500, api.ReasonInternalError, "etcdserver: request is too large"),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster()
			c.addNamespace("ns", true, "kubernetes")
			c.put("configmaps.", "ns", "held", withFinalizers("example.com/hold"))
			c.refuse(func(r *http.Request) *api.Status {
				if strings.HasSuffix(r.URL.Path, "/status") {
					return refusal
				}
				return nil
			})
			r := startController(t, c, nil)
			time.Sleep(time.Minute)
			assert.NotNil(t, c.namespace("ns"))
			c.release("configmaps.", "ns", "held")
			time.Sleep(time.Minute)
			assert.Nil(t, c.namespace("ns"), refusal.Message)
			r.stop()
		})
	}
}

// A webhook that is away for a moment is waited for as long as the server asks, if that is not long; a worker is not kept
// for an hour.
func TestRetryAfter(t *testing.T) {
	for seconds, passes := range map[int]int{2: 1, 3600: 2} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster()
			c.addNamespace("ns", true, "kubernetes")
			c.put("configmaps.", "ns", "a")
			refused := false
			server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps") && !refused {
					refused = true
					w.Header().Set("Retry-After", fmt.Sprint(seconds))
					answer(w, 500, status(500, api.ReasonInternalError, "failed calling webhook: context deadline exceeded"))
					return
				}
				c.ServeHTTP(w, r)
			}))
			deleter := deleterFor(server.Client(func(config *restclient.Config) { config.MaxRetryAfter = 10 * time.Second }))
			started := time.Now()
			for pass := 1; pass < passes; pass++ {
				var resource *nsctl.ResourceError
				require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource)
				assert.NotNil(t, c.namespace("ns"))
			}
			require.NoError(t, deleter.Delete(t.Context(), "ns"))
			assert.Nil(t, c.namespace("ns"))
			assert.Empty(t, c.left("ns"))
			assert.Less(t, time.Since(started), 10*time.Second, "of virtual time")
		})
	}
}

// The answer to the finalizing gets lost, and somebody creates the namespace anew before the next pass: nobody touches that.
func TestAFinalizingWhoseAnswerIsLostHarmsNoNewNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		lost := false
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/finalize") || lost {
				c.ServeHTTP(w, r)
				return
			}
			lost = true
			c.ServeHTTP(&discarding{}, r)
			c.addNamespace("ns", false, "kubernetes")
			c.put("configmaps.", "ns", "precious")
			panic(http.ErrAbortHandler)
		})
		deleter := deleterFor(newClient(t, server))
		require.Error(t, deleter.Delete(t.Context(), "ns"))
		require.True(t, lost)
		c.log()
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.log())
		assert.Equal(t, []string{"configmaps./precious"}, c.left("ns"))
		assert.Nil(t, c.namespace("ns").DeletionTimestamp)
	})
}

// discarding is an answer that nobody gets.
type discarding struct{}

func (*discarding) Header() http.Header              { return http.Header{} }
func (*discarding) Write(answer []byte) (int, error) { return len(answer), nil }
func (*discarding) WriteHeader(int)                  {}
