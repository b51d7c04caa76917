package nsctltest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
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

// pages serves the ConfigMaps of a cluster in pages of one object, whatever the client asks for, and takes its time. It may
// let all of its tokens expire.
type pages struct {
	*Cluster
	expire bool
	once   bool // only the first token expires
	asked  atomic.Int32
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/ns/configmaps") {
		p.Cluster.ServeHTTP(w, r)
		return
	}
	p.asked.Add(1)
	time.Sleep(time.Second)
	token := r.URL.Query().Get("continue")
	if token != "" && p.expire {
		p.expire = !p.once
		answer(w, 410, Status(410, api.ReasonExpired, "the continue token is too old"))
		return
	}
	items := p.Left("ns")
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
func (s suite) WhatIsLeftIsCountedOverAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		for i := range 3 {
			c.Put("configmaps.", "ns", fmt.Sprint("held-", i), WithFinalizers("example.com/hold"))
		}
		deleter := s.newDeleter(t, &pages{Cluster: c})
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, "Some resources are remaining: configmaps. has 3 resource instances",
			ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Message)
	})
}

// A list whose token expires is read anew, and what its first pages had is not counted twice.
func (s suite) AListThatExpiresOnceIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		for i := range 3 {
			c.Put("configmaps.", "ns", fmt.Sprint("held-", i), WithFinalizers("example.com/hold"))
		}
		deleter := s.newDeleter(t, &pages{Cluster: c, expire: true, once: true})
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, "Some resources are remaining: configmaps. has 3 resource instances",
			ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Message)
	})
}

// Deletions ask for background propagation: no object waits for its dependents, which are deleted themselves.
func (s suite) DeletionsAskForBackgroundPropagation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Verbs["services."] = []string{"delete", "list"} // one by one
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		c.Put("services.", "ns", "b")
		var mu sync.Mutex
		asked := 0
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete {
				body, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				assert.Contains(t, string(body), `"propagationPolicy":"Background"`, r.URL.Path)
				mu.Lock()
				defer mu.Unlock()
				asked++
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, 30, asked, "29 collections and one service")
	})
}

// A server that sends pages although none were asked for, and forgets where they go on, cannot be read. That is a failure,
// not an empty list, and no reason to ask it without end.
func (s suite) AListThatExpiresAgainAndAgainIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a", WithFinalizers("example.com/hold"))
		c.Put("configmaps.", "ns", "b", WithFinalizers("example.com/hold"))
		server := &pages{Cluster: c, expire: true}
		ctx, giveUp := context.WithTimeout(t.Context(), time.Minute) // of virtual time: a server that is asked without end is slow
		defer giveUp()
		err := s.newDeleter(t, server).Delete(ctx, "ns")
		assert.True(t, api.IsExpired(err), "%v", err)
		assert.Less(t, server.asked.Load(), int32(10))
		require.NotNil(t, c.Namespace("ns"))
		assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Status)
	})
}

// A report that meets a conflict is written on the new state, and conditions of others stay.
func (s suite) ConflictingReportsAreWrittenOnTheNewState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
		mine := api.NamespaceCondition{Type: "example.com/Mine", Status: api.ConditionTrue, Reason: "Because"}
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") && len(c.Existing(t, "ns").Status.Conditions) == 0 {
				c.Update("ns", func(ns *api.Namespace) { ns.Status.Conditions = []api.NamespaceCondition{mine} })
			}
			return nil
		})
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, s.newDeleter(t, c).Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, mine, ConditionOf(c.Existing(t, "ns"), mine.Type))
		assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Status)
	})
}

// A namespace that is re-created while the report about the old one is on its way gets no report, and keeps its token.
func (s suite) AReportAboutARecreatedNamespaceIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		recreated := false
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") && !recreated {
				recreated = true
				c.AddNamespace("ns", false, "kubernetes")
			}
			return nil
		})
		var changed *nsctl.UIDChangedError
		require.ErrorAs(t, s.newDeleter(t, c).Delete(t.Context(), "ns"), &changed)
		assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
		assert.Equal(t, []string{"kubernetes"}, c.Existing(t, "ns").Spec.Finalizers)
	})
}

// What servers answer to a request that they do not carry out, whatever they call it: the type is not empty, the pass has
// failed, the rest goes, and so does the namespace when it is over.
func (s suite) EachRefusalOfACollectionIsAFailure(t *testing.T) {
	for _, refusal := range []*api.Status{
		Status(400, api.ReasonBadRequest, "what is that"), Status(401, api.ReasonUnauthorized, "who are you"), Status(403, api.ReasonForbidden, "no"),
		Status(409, api.ReasonConflict, "somebody else"), Status(410, api.ReasonGone, "gone"), Status(410, api.ReasonExpired, "too old"),
		Status(413, api.ReasonRequestEntityTooLarge, "too large"), Status(415, api.ReasonUnsupportedMediaType, "what"), Status(422, api.ReasonInvalid, "invalid"),
		Status(429, api.ReasonTooManyRequests, "not so fast"), Status(500, api.ReasonInternalError, "failed calling webhook: context deadline exceeded"),
		Status(502, "", "bad gateway"), Status(503, api.ReasonServiceUnavailable, "not now"), Status(504, api.ReasonTimeout, "too late"),
	} {
		for _, method := range []string{http.MethodDelete, http.MethodGet} {
			t.Run(fmt.Sprint(method, " ", refusal.Code, " ", refusal.Reason), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := NewCluster()
					c.AddNamespace("ns", true, "kubernetes")
					c.Put("secrets.", "ns", "s", WithFinalizers("example.com/hold"))
					c.Put("configmaps.", "ns", "c")
					c.Refuse(func(r *http.Request) *api.Status {
						if r.Method == method && strings.HasSuffix(r.URL.Path, "/secrets") {
							return refusal
						}
						return nil
					})
					deleter := s.newDeleter(t, c)
					var resource *nsctl.ResourceError
					require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource)
					assert.Equal(t, "secrets", resource.Resource.Resource)
					require.NotNil(t, c.Namespace("ns"))
					assert.Equal(t, []string{"secrets./s"}, c.Left("ns"))
					assert.Contains(t, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Message, refusal.Message)

					c.Refuse(nil)
					c.Release("secrets.", "ns", "s")
					require.NoError(t, deleter.Delete(t.Context(), "ns"))
					assert.Nil(t, c.Namespace("ns"))
				})
			})
		}
	}
}

// A status that is too large for the server, or that it does not take for another reason, holds nothing up.
func (s suite) AReportThatIsRefusedDoesNotHoldTheNamespace(t *testing.T) {
	for _, refusal := range []*api.Status{
		Status(413, api.ReasonRequestEntityTooLarge, "too large"), Status(409, api.ReasonConflict, "for ever"), Status(500, api.ReasonInternalError, "etcdserver: request is too large"),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := NewCluster()
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
			c.Refuse(func(r *http.Request) *api.Status {
				if strings.HasSuffix(r.URL.Path, "/status") {
					return refusal
				}
				return nil
			})
			r := StartController(t, c, s.New, nil)
			time.Sleep(time.Minute)
			assert.NotNil(t, c.Namespace("ns"))
			c.Release("configmaps.", "ns", "held")
			time.Sleep(time.Minute)
			assert.Nil(t, c.Namespace("ns"), refusal.Message)
			r.Stop()
		})
	}
}

// A webhook that is away for a moment is waited for as long as the server asks, if that is not long; a worker is not kept
// for an hour.
func (s suite) RetryAfter(t *testing.T) {
	for seconds, passes := range map[int]int{2: 1, 3600: 2} {
		synctest.Test(t, func(t *testing.T) {
			c := NewCluster()
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("configmaps.", "ns", "a")
			refused := false
			server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps") && !refused {
					refused = true
					w.Header().Set("Retry-After", fmt.Sprint(seconds))
					answer(w, 500, Status(500, api.ReasonInternalError, "failed calling webhook: context deadline exceeded"))
					return
				}
				c.ServeHTTP(w, r)
			}))
			deleter := deleterOf(server.Client(func(config *restclient.Config) { config.MaxRetryAfter = 10 * time.Second }), s.New)
			started := time.Now()
			for pass := 1; pass < passes; pass++ {
				var resource *nsctl.ResourceError
				require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource)
				assert.NotNil(t, c.Namespace("ns"))
			}
			require.NoError(t, deleter.Delete(t.Context(), "ns"))
			assert.Nil(t, c.Namespace("ns"))
			assert.Empty(t, c.Left("ns"))
			assert.Less(t, time.Since(started), 10*time.Second, "of virtual time")
		})
	}
}

// The answer to finalizing gets lost, and the namespace is re-created before the next pass: the new one is left alone.
func (s suite) AFinalizingWhoseAnswerIsLostHarmsNoNewNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		lost := false
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/finalize") || lost {
				c.ServeHTTP(w, r)
				return
			}
			lost = true
			c.ServeHTTP(&discarding{}, r)
			c.AddNamespace("ns", false, "kubernetes")
			c.Put("configmaps.", "ns", "precious")
			panic(http.ErrAbortHandler)
		})
		deleter := s.newDeleter(t, server)
		require.Error(t, deleter.Delete(t.Context(), "ns"))
		require.True(t, lost)
		c.Log()
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log())
		assert.Equal(t, []string{"configmaps./precious"}, c.Left("ns"))
		assert.Nil(t, c.Existing(t, "ns").DeletionTimestamp)
	})
}

// discarding is an answer that nobody gets.
type discarding struct{}

func (*discarding) Header() http.Header              { return http.Header{} }
func (*discarding) Write(answer []byte) (int, error) { return len(answer), nil }
func (*discarding) WriteHeader(int)                  {}
