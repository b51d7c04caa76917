package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
)

// requestsFor is the number of requests of a full discovery of the fake server.
var requestsFor = map[form][]string{
	formV2:      {"/api", "/apis"},
	formV2beta1: {"/api", "/apis"},
	formLegacy:  {"/api", "/api/v1", "/apis", "/apis/apps/v1", "/apis/autoscaling/v1", "/apis/autoscaling/v2", "/apis/only.cluster/v1"},
}

// inEachForm runs the test against servers of all versions: the result must not depend on them.
func inEachForm(t *testing.T, test func(t *testing.T, form form)) {
	for form := range requestsFor {
		t.Run(string(form), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, form) })
		})
	}
}

func TestDiscovery(t *testing.T) {
	inEachForm(t, func(t *testing.T, form form) {
		c, server := connect(t, newFakeServer(form), Config{})
		groups, lists, err := c.ServerGroupsAndResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, requestsFor[form], paths(server, 0))
		assert.Equal(t, []string{
			"v1: pods pods/log pods/status configmaps nodes",
			"apps/v1: deployments deployments/scale replicasets",
			"autoscaling/v2: horizontalpodautoscalers",
			"autoscaling/v1: horizontalpodautoscalers oldscalers",
			"only.cluster/v1: things",
		}, names(lists))
		pods, nodes := lists[0].Resources[0], lists[0].Resources[4]
		assert.Equal(t, api.APIResource{Name: "pods", SingularName: "pod", Namespaced: true, Version: "v1", Kind: "Kindpods", Verbs: crudVerbs}, pods)
		assert.False(t, nodes.Namespaced)

		require.Len(t, groups, 4)
		assert.Equal(t, []string{"", "apps", "autoscaling", "only.cluster"}, []string{groups[0].Name, groups[1].Name, groups[2].Name, groups[3].Name})
		assert.Equal(t, api.GroupVersionForDiscovery{GroupVersion: "v1", Version: "v1"}, groups[0].PreferredVersion)
		assert.Equal(t, api.GroupVersionForDiscovery{GroupVersion: "autoscaling/v2", Version: "v2"}, groups[2].PreferredVersion)

		onlyGroups, err := c.ServerGroups(t.Context())
		require.NoError(t, err)
		assert.Equal(t, groups, onlyGroups)
	})
}

func TestPreferredResources(t *testing.T) {
	inEachForm(t, func(t *testing.T, form form) {
		c, _ := connect(t, newFakeServer(form), Config{})
		lists, err := c.ServerPreferredResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{
			"v1: pods configmaps nodes",
			"apps/v1: deployments replicasets",
			"autoscaling/v2: horizontalpodautoscalers",
			"autoscaling/v1: oldscalers",
			"only.cluster/v1: things",
		}, names(lists))

		lists, err = c.ServerPreferredNamespacedResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{
			"v1: pods configmaps",
			"apps/v1: deployments replicasets",
			"autoscaling/v2: horizontalpodautoscalers",
			"autoscaling/v1: oldscalers",
		}, names(lists))
	})
}

// The preferred version of a legacy group need not be the first in its list.
func TestPreferredVersionThatIsNotTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formLegacy)
		s.bodies["/apis"] = `{"kind":"APIGroupList","groups":[{"name":"autoscaling",
			"versions":[{"groupVersion":"autoscaling/v2","version":"v2"},{"groupVersion":"autoscaling/v1","version":"v1"}],
			"preferredVersion":{"groupVersion":"autoscaling/v1","version":"v1"}}]}`
		c, _ := connect(t, s, Config{})
		lists, err := c.ServerPreferredNamespacedResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"v1: pods configmaps", "autoscaling/v1: horizontalpodautoscalers oldscalers"}, names(lists))
	})
}

func TestBrokenGroupsAreKeptBesideTheRest(t *testing.T) {
	inEachForm(t, func(t *testing.T, form form) {
		s := newFakeServer(form)
		s.broken["apps/v1"], s.broken["autoscaling/v2"] = http.StatusServiceUnavailable, http.StatusServiceUnavailable
		c, _ := connect(t, s, Config{})
		lists, err := c.ServerPreferredNamespacedResources(t.Context())
		assert.Equal(t, []string{"v1: pods configmaps", "autoscaling/v1: horizontalpodautoscalers oldscalers"}, names(lists))
		var failed *ErrGroupDiscoveryFailed
		require.ErrorAs(t, err, &failed)
		if form == formLegacy {
			assert.EqualError(t, err, "unable to retrieve the complete list of server APIs: "+
				"apps/v1: the server is currently unable to handle the request, autoscaling/v2: the server is currently unable to handle the request")
		} else {
			assert.EqualError(t, err, "unable to retrieve the complete list of server APIs: "+
				"apps/v1: stale GroupVersion discovery: apps/v1, autoscaling/v2: stale GroupVersion discovery: autoscaling/v2")
			assert.Equal(t, map[string]string{"apps/v1": "stale GroupVersion discovery: apps/v1", "autoscaling/v2": "stale GroupVersion discovery: autoscaling/v2"}, texts(failed))
		}

		lists, err = c.ServerPreferredResources(t.Context())
		assert.Len(t, lists, 3)
		assert.ErrorAs(t, err, &failed)
		_, lists, err = c.ServerGroupsAndResources(t.Context())
		assert.Len(t, lists, 3)
		assert.ErrorAs(t, err, &failed)
	})
}

// A group that is not found must not look as if the requested object was not found.
func TestBrokenGroupIsNotTheCauseOfTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formLegacy)
		s.broken["apps/v1"] = http.StatusNotFound
		c, server := connect(t, s, Config{})
		_, err := c.ServerPreferredResources(t.Context())
		require.Error(t, err)
		assert.False(t, api.IsNotFound(err))
		assert.Len(t, server.Requests(), 2*len(requestsFor[formLegacy]), "the group might have vanished: asked twice")
	})
}

func TestGroupVanishesInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formLegacy)
		s.onGet = func(path string) {
			if path == "/apis/apps/v1" {
				s.set(func() { s.groups = append(s.groups[:1:1], s.groups[2:]...) })
			}
		}
		c, _ := connect(t, s, Config{})
		lists, err := c.ServerPreferredNamespacedResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"v1: pods configmaps", "autoscaling/v2: horizontalpodautoscalers", "autoscaling/v1: oldscalers"}, names(lists))
	})
}

func TestOneDocumentAggregatedTheOtherNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formV2)
		s.mixed = true
		c, server := connect(t, s, Config{})
		lists, err := c.ServerPreferredNamespacedResources(t.Context())
		require.NoError(t, err)
		assert.Len(t, lists, 4)
		assert.Equal(t, []string{"/api", "/api/v1", "/apis"}, paths(server, 0))
	})
}

func TestDocumentsAreRequestedInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formLegacy)
		s.delay = time.Second
		for i := range 2 * concurrency {
			s.groups = append(s.groups, group(fmt.Sprintf("group-%d.example", i), "v1: things"))
		}
		c, _ := connect(t, s, Config{})
		_, err := c.ServerPreferredResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, concurrency, s.most, "requests at a time")
	})
}

func TestServerWithoutCoreGroup(t *testing.T) {
	inEachForm(t, func(t *testing.T, form form) {
		s := newFakeServer(form)
		s.refuse["/api"] = http.StatusNotFound
		c, _ := connect(t, s, Config{})
		lists, err := c.ServerPreferredResources(t.Context())
		require.NoError(t, err)
		assert.Len(t, lists, 4)
		s.bodies["/api"] = `{"kind":"APIVersions","versions":[]}`
		lists, err = c.ServerPreferredResources(t.Context())
		require.NoError(t, err)
		assert.Len(t, lists, 4)
	})
}

// Without the list of groups nothing is known, not even the failed groups.
func TestNoListOfGroups(t *testing.T) {
	for _, path := range []string{"/api", "/apis"} {
		t.Run(path, func(t *testing.T) {
			inEachForm(t, func(t *testing.T, form form) {
				s := newFakeServer(form)
				s.refuse[path] = http.StatusForbidden
				c, _ := connect(t, s, Config{})
				groups, lists, err := c.ServerGroupsAndResources(t.Context())
				assert.True(t, api.IsForbidden(err), "%v", err)
				assert.Nil(t, groups)
				assert.Nil(t, lists)
				_, err = c.ServerGroups(t.Context())
				assert.True(t, api.IsForbidden(err))
				_, err = c.ServerPreferredResources(t.Context())
				assert.True(t, api.IsForbidden(err))
				_, err = c.ServerPreferredNamespacedResources(t.Context())
				assert.True(t, api.IsForbidden(err))
			})
		})
	}
}

func TestAnswersThatAreNoDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formLegacy)
		c, _ := connect(t, s, Config{})
		for body, want := range map[string]string{
			"<html>please log in": "the server's answer to GET /apis is no discovery document: invalid character '<' looking for beginning of value",
			`{"kind":"Pod"}`:      `the server's answer to GET /apis is no discovery document: its kind is "Pod"`,
			`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.example/v2"}`: `the server's answer to GET /apis is no discovery document: its kind is "APIGroupDiscoveryList"`,
		} {
			s.set(func() { s.bodies["/apis"] = body })
			_, err := c.ServerPreferredResources(t.Context())
			assert.EqualError(t, err, want)
		}
		delete(s.bodies, "/apis")
		s.bodies["/apis/apps/v1"] = `{"kind":"Pod"}`
		_, err := c.ServerPreferredResources(t.Context())
		assert.EqualError(t, err, `unable to retrieve the complete list of server APIs: apps/v1: the server's answer to GET /apis/apps/v1 is no discovery document: its kind is "Pod"`)
		s.bodies["/apis/apps/v1"] = `[`
		_, err = c.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Group: "apps", Version: "v1"})
		var unexpected *UnexpectedAnswerError
		require.ErrorAs(t, err, &unexpected)
		assert.Error(t, errors.Unwrap(unexpected))
	})
}

func TestResourcesOfOneGroupVersion(t *testing.T) {
	inEachForm(t, func(t *testing.T, form form) {
		c, server := connect(t, newFakeServer(form), Config{})
		list, err := c.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Version: "v1"})
		require.NoError(t, err)
		assert.Equal(t, []string{"v1: pods pods/log pods/status configmaps nodes"}, names([]*api.APIResourceList{list}))
		list, err = c.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Group: "apps", Version: "v1"})
		require.NoError(t, err)
		assert.Equal(t, "apps/v1", list.GroupVersion)
		assert.Equal(t, []string{"/api/v1", "/apis/apps/v1"}, paths(server, 0))
		_, err = c.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Group: "none", Version: "v1"})
		assert.True(t, api.IsNotFound(err))
	})
}

// A resource that the server cannot name a kind for is not one, but its subresources may be.
func TestResourcesWithoutKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formV2)
		s.bodies["/api"] = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":""},"versions":[{"version":"v1","resources":[
			{"resource":"ghosts","scope":"Namespaced","responseKind":{"group":"","version":"","kind":""},"verbs":["get"],"subresources":[
				{"subresource":"chain","responseKind":{"group":"","version":"v1","kind":"Chain"},"verbs":["get"]},
				{"subresource":"sheet","verbs":["get"]}]}]}]}]}`
		c, _ := connect(t, s, Config{})
		_, lists, err := c.ServerGroupsAndResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "v1: ghosts/chain", names(lists)[0])
		assert.True(t, lists[0].Resources[0].Namespaced)
	})
}

func TestCallerLeaves(t *testing.T) {
	inEachForm(t, func(t *testing.T, form form) {
		s := newFakeServer(form)
		s.delay = 10 * time.Second
		c, _ := connect(t, s, Config{})
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // while the group versions of an old server are requested
		defer cancel()
		if form != formLegacy {
			ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
		}
		lists, err := c.ServerPreferredResources(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorAs(t, err, new(*ErrGroupDiscoveryFailed), "that is no finding about the server")
		assert.Nil(t, lists)
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formV2)
		s.delay = time.Hour
		c, _ := connect(t, s, Config{})
		start := time.Now()
		_, err := c.ServerVersion(t.Context())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, requestTimeout, time.Since(start))
	})
}

func TestServerVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formV2)
		s.bodies["/version"] = `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`
		c, _ := connect(t, s, Config{})
		version, err := c.ServerVersion(t.Context())
		require.NoError(t, err)
		assert.Equal(t, &api.VersionInfo{Major: "1", Minor: "36", GitVersion: "v1.36.3"}, version)
	})
}

func TestOpenAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(formV2)
		s.bodies["/openapi/v2"] = `{"swagger":"2.0"}`
		c, _ := connect(t, s, Config{})
		document, err := c.OpenAPIV2(t.Context())
		require.NoError(t, err)
		assert.Equal(t, `{"swagger":"2.0"}`, string(document))
	})
}

// The number of attempts must not appear in the condition of a namespace: it would change each
// time.
func TestNumberOfAttemptsIsNotPartOfTheMessage(t *testing.T) {
	cause := errors.New("cause")
	assert.Equal(t, cause, withoutAttempts(&restclient.AttemptsError{Attempts: 3, Err: cause}))
	assert.Equal(t, cause, withoutAttempts(cause))
}

// A kube-apiserver that has just started lists its built-in groups, apparently completely, before
// it knows its custom resources. A namespace that was finalized on that basis left its custom
// objects behind.
func TestServersThatAreNotReadyAreNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFakeServer(formV2)
		fake.refuse["/readyz"] = http.StatusInternalServerError
		c, server := connect(t, fake, Config{OnlyWhenReady: true})
		cached := NewCached(c)
		started := time.Now()
		lists, err := cached.PreferredNamespacedResources(t.Context(), time.Time{})
		var notReady *NotReadyError
		require.ErrorAs(t, err, &notReady)
		assert.Equal(t, http.StatusInternalServerError, api.CodeOf(err))
		assert.Empty(t, lists)
		assert.Equal(t, []string{"/readyz"}, paths(server, 0), "the only request, made once")
		assert.Zero(t, time.Since(started))

		fake.set(func() { delete(fake.refuse, "/readyz") })
		lists, err = cached.PreferredNamespacedResources(t.Context(), time.Time{})
		require.NoError(t, err)
		assert.Len(t, lists, 4)
		assert.Equal(t, []string{"/api", "/apis", "/readyz"}, paths(server, 1))
	})
}

// A starting kube-apiserver reads the roles one by one. For a moment it allowed discovery and
// forbade the readiness check. Five namespaces were removed, and their custom objects stayed.
func TestServersThatForbidTheQuestionAreNotBelievedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFakeServer(formV2)
		c, server := connect(t, fake, Config{OnlyWhenReady: true})
		discover := func() error {
			_, err := c.ServerPreferredNamespacedResources(t.Context())
			return err
		}
		require.NoError(t, discover())
		fake.set(func() { fake.refuse["/readyz"] = http.StatusForbidden })
		asked := len(paths(server, 0))
		var notReady *NotReadyError
		require.ErrorAs(t, discover(), &notReady)
		assert.Contains(t, notReady.Error(), "forbids to ask whether it is ready")
		assert.Equal(t, []string{"/readyz"}, paths(server, asked))
		time.Sleep(refusalIsMeant - time.Second)
		require.ErrorAs(t, discover(), &notReady)
		fake.set(func() { fake.refuse["/readyz"] = http.StatusInternalServerError })
		require.ErrorAs(t, discover(), &notReady)
		fake.set(func() { fake.refuse["/readyz"] = http.StatusForbidden })
		time.Sleep(time.Minute)
		require.ErrorAs(t, discover(), &notReady, "there was an answer: it may be another start")
		fake.set(func() { fake.onGet = func(string) { panic(http.ErrAbortHandler) } })
		time.Sleep(time.Minute)
		asked = len(paths(server, 0))
		require.Error(t, discover())
		assert.NotContains(t, paths(server, asked), "/api", "a server that does not answer is not ready")
		fake.set(func() { fake.onGet = nil })
		require.ErrorAs(t, discover(), &notReady, "the server was down: it has restarted")
		time.Sleep(refusalIsMeant)
		require.NoError(t, discover(), "that is how the roles are")
		fake.set(func() { delete(fake.refuse, "/readyz") })
		require.NoError(t, discover())
	})
}

// All users may read it by default, but that depends on roles, and old servers do not have the
// endpoint.
func TestServersThatDoNotSayWhetherTheyAreReadyAreBelieved(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		synctest.Test(t, func(t *testing.T) {
			fake := newFakeServer(formV2)
			fake.refuse["/readyz"] = code
			c, _ := connect(t, fake, Config{OnlyWhenReady: true})
			_, err := c.ServerPreferredNamespacedResources(t.Context())
			assert.NoError(t, err, "%d", code)
		})
	}
}

// A repeated request could reach a server that started after the other was found ready.
func TestDiscoveryOfReadyServersIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFakeServer(formV2)
		fake.refuse["/apis"] = http.StatusServiceUnavailable
		c, server := connect(t, fake, Config{OnlyWhenReady: true})
		_, err := c.ServerPreferredNamespacedResources(t.Context())
		require.Error(t, err)
		assert.Equal(t, []string{"/api", "/apis", "/readyz"}, paths(server, 0))
	})
}
