package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// requestsFor is the number of requests of a full discovery of the fake server.
var requestsFor = map[form][]string{
	formV2:      {"/api", "/apis"},
	formV2beta1: {"/api", "/apis"},
	formLegacy: {"/api", "/api/v1", "/apis", "/apis/apps/v1", "/apis/autoscaling/v1", "/apis/autoscaling/v2",
		"/apis/only.cluster/v1"},
}

// inEachForm runs the test against servers of all versions: the result must not depend on them.
func inEachForm(t *testing.T, test func(t *testing.T, d *discovered)) {
	for form := range requestsFor {
		t.Run(string(form), func(t *testing.T) { inForm(t, form, Config{}, test) })
	}
}

func TestDiscovery(t *testing.T) {
	inEachForm(t, func(t *testing.T, d *discovered) {
		groups, lists, err := d.ServerGroupsAndResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, requestsFor[d.fake.form], paths(d.asked, 0))
		assert.Equal(t, []string{
			"v1: pods pods/log pods/status configmaps nodes",
			"apps/v1: deployments deployments/scale replicasets",
			"autoscaling/v2: horizontalpodautoscalers",
			"autoscaling/v1: horizontalpodautoscalers oldscalers",
			"only.cluster/v1: things",
		}, names(lists))
		pods, nodes := lists[0].Resources[0], lists[0].Resources[4]
		assert.Equal(t, api.APIResource{Name: "pods", SingularName: "pod", Namespaced: true, Version: "v1",
			Kind: "Kindpods", Verbs: crudVerbs}, pods)
		assert.False(t, nodes.Namespaced)

		require.Len(t, groups, 4)
		assert.Equal(t, []string{"", "apps", "autoscaling", "only.cluster"},
			[]string{groups[0].Name, groups[1].Name, groups[2].Name, groups[3].Name})
		assert.Equal(t, api.GroupVersionForDiscovery{GroupVersion: "v1", Version: "v1"}, groups[0].PreferredVersion)
		assert.Equal(t, api.GroupVersionForDiscovery{GroupVersion: "autoscaling/v2", Version: "v2"},
			groups[2].PreferredVersion)
	})
}

func TestPreferredResources(t *testing.T) {
	inEachForm(t, func(t *testing.T, d *discovered) {
		lists, err := d.ServerPreferredResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{
			"v1: pods configmaps nodes",
			"apps/v1: deployments replicasets",
			"autoscaling/v2: horizontalpodautoscalers",
			"autoscaling/v1: oldscalers",
			"only.cluster/v1: things",
		}, names(lists))

		lists, err = d.ServerPreferredNamespacedResources(t.Context())
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
	inForm(t, formLegacy, Config{}, func(t *testing.T, d *discovered) {
		d.fake.bodies["/apis"] = `{"kind":"APIGroupList","groups":[{"name":"autoscaling",
			"versions":[{"groupVersion":"autoscaling/v2","version":"v2"},{"groupVersion":"autoscaling/v1","version":"v1"}],
			"preferredVersion":{"groupVersion":"autoscaling/v1","version":"v1"}}]}`
		lists, err := d.ServerPreferredNamespacedResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"v1: pods configmaps", "autoscaling/v1: horizontalpodautoscalers oldscalers"},
			names(lists))
	})
}

func TestBrokenGroupsAreKeptBesideTheRest(t *testing.T) {
	inEachForm(t, func(t *testing.T, d *discovered) {
		d.fake.broken = map[string]int{"apps/v1": 503, "autoscaling/v2": 503}
		lists, err := d.ServerPreferredNamespacedResources(t.Context())
		assert.Equal(t, []string{"v1: pods configmaps", "autoscaling/v1: horizontalpodautoscalers oldscalers"},
			names(lists))
		var failed *ErrGroupDiscoveryFailed
		require.ErrorAs(t, err, &failed)
		if d.fake.form == formLegacy {
			assert.EqualError(t, err, "unable to retrieve the complete list of server APIs: "+
				"apps/v1: the server is currently unable to handle the request, autoscaling/v2: the server is "+
				"currently unable to handle the request")
		} else {
			assert.EqualError(t, err, "unable to retrieve the complete list of server APIs: "+
				"apps/v1: stale GroupVersion discovery: apps/v1, autoscaling/v2: stale GroupVersion discovery: "+
				"autoscaling/v2")
		}

		lists, err = d.ServerPreferredResources(t.Context())
		assert.Len(t, lists, 3)
		assert.ErrorAs(t, err, &failed)
		_, lists, err = d.ServerGroupsAndResources(t.Context())
		assert.Len(t, lists, 3)
		assert.ErrorAs(t, err, &failed)
	})
}

// A group that is not found must not look as if the requested object was not found.
func TestBrokenGroupIsNotTheCauseOfTheWhole(t *testing.T) {
	inForm(t, formLegacy, Config{}, func(t *testing.T, d *discovered) {
		d.fake.broken["apps/v1"] = http.StatusNotFound
		_, err := d.ServerPreferredResources(t.Context())
		require.Error(t, err)
		assert.False(t, api.IsNotFound(err))
	})
}

func TestDocumentsAreRequestedInParallel(t *testing.T) {
	inForm(t, formLegacy, Config{}, func(t *testing.T, d *discovered) {
		d.fake.delay = time.Second
		for i := range 2 * concurrency {
			d.fake.groups = append(d.fake.groups, group(fmt.Sprintf("group-%d.example", i), "v1: things"))
		}
		_, err := d.ServerPreferredResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, concurrency, d.fake.most, "requests at a time")
	})
}

// Without the list of groups nothing is known, not even the failed groups. A failed group version
// is in the error, beside the others.
func TestFaults(t *testing.T) {
	const none, all = 0, 5
	const noDocument = "GET /apis: the answer cannot be understood: "
	const redirected = ": the server http://apiserver.test answered 302"
	const incomplete = "unable to retrieve the complete list of server APIs: "
	says := func(path, body string) func(*fakeServer) {
		return func(s *fakeServer) { s.bodies[path] = body }
	}
	refuses := func(path string, code int) func(*fakeServer) {
		return func(s *fakeServer) { s.refuse[path] = code }
	}
	named := func(group, version string) func(*fakeServer) {
		const list = `{"kind":"APIGroupList","groups":[{"name":%q,"versions":[{"version":%q}]}]}`
		return says("/apis", fmt.Sprintf(list, group, version))
	}
	for _, c := range []struct {
		spoil func(*fakeServer)
		lists int
		want  string // the beginning of the error; "": none
	}{
		{says("/api", `{"kind":"APIVersions","versions":[]}`), all - 1, ""},
		{refuses("/api", http.StatusForbidden), none, "the server is currently unable"},
		{refuses("/apis", http.StatusForbidden), none, "the server is currently unable"},
		{refuses("/api", http.StatusFound), none, "GET http://apiserver.test/api" + redirected},
		{refuses("/apis", http.StatusFound), none, "GET http://apiserver.test/apis" + redirected},
		{says("/apis", "<html>please log in"), none, noDocument + "invalid character '<'"},
		{says("/apis", `{"kind":"Pod"}`), none, noDocument + `its kind is "Pod"`},
		{says("/apis", `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.example/v2"}`), none,
			noDocument + `its kind is "APIGroupDiscoveryList"`},
		// It would replace the core group.
		{named("", "v1"), none, noDocument + "it has a group without a name"},
		{refuses("/apis/apps/v1", http.StatusFound), all - 1, incomplete +
			"apps/v1: GET http://apiserver.test/apis/apps/v1" + redirected},
		{says("/apis/apps/v1", `{"kind":"Pod"}`), all - 1, incomplete +
			`apps/v1: GET /apis/apps/v1: the answer cannot be understood: its kind is "Pod"`},
		// Names that would address something else are not asked for.
		{named("../api", "v1"), 1, incomplete + `../api/v1: the group "../api" contains '/'`},
		{named("evil.io", ".."), 1, incomplete + `evil.io/..: the version ".." means a directory`},
	} {
		inForm(t, formLegacy, Config{}, func(t *testing.T, d *discovered) {
			c.spoil(d.fake)
			_, lists, err := d.ServerGroupsAndResources(t.Context())
			assert.Len(t, lists, c.lists, c.want)
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			require.Error(t, err, c.want)
			assert.True(t, strings.HasPrefix(err.Error(), c.want), "%v", err)
			for _, path := range paths(d.asked, 0) {
				assert.NotContains(t, path, "..")
			}
		})
	}
}

func TestResourcesOfOneGroupVersion(t *testing.T) {
	inEachForm(t, func(t *testing.T, d *discovered) {
		list, err := d.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Version: "v1"})
		require.NoError(t, err)
		assert.Equal(t, []string{"v1: pods pods/log pods/status configmaps nodes"}, names([]*api.APIResourceList{list}))
		list, err = d.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Group: "apps", Version: "v1"})
		require.NoError(t, err)
		assert.Equal(t, "apps/v1", list.GroupVersion)
		assert.Equal(t, []string{"/api/v1", "/apis/apps/v1"}, paths(d.asked, 0))
		_, err = d.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Group: "none", Version: "v1"})
		assert.True(t, api.IsNotFound(err))
		for _, body := range []string{`[`, `{"kind":"Pod"}`} {
			d.fake.bodies["/apis/apps/v1"] = body
			_, err = d.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Group: "apps", Version: "v1"})
			assert.ErrorAs(t, err, new(*restclient.DecodeError), body)
		}
		_, err = d.ServerResourcesForGroupVersion(t.Context(), api.GroupVersion{Group: "apps", Version: "a/b"})
		assert.ErrorAs(t, err, new(*restclient.NameError))
	})
}

// A resource that the server cannot name a kind for is not one, but its subresources may be.
func TestResourcesWithoutKind(t *testing.T) {
	inForm(t, formV2, Config{}, func(t *testing.T, d *discovered) {
		d.fake.bodies["/api"] = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
			{"metadata":{"name":""},"versions":[{"version":"v1","resources":[
			{"resource":"ghosts","scope":"Namespaced","responseKind":{"group":"","version":"","kind":""},"verbs":["get"],"subresources":[
				{"subresource":"chain","responseKind":{"group":"","version":"v1","kind":"Chain"},"verbs":["get"]},
				{"subresource":"sheet","verbs":["get"]}]}]}]}]}`
		_, lists, err := d.ServerGroupsAndResources(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "v1: ghosts/chain", names(lists)[0])
		assert.True(t, lists[0].Resources[0].Namespaced)
	})
}

func TestCallerLeaves(t *testing.T) {
	inEachForm(t, func(t *testing.T, d *discovered) {
		d.fake.delay = 10 * time.Second
		// while the group versions of an old server are requested
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		if d.fake.form != formLegacy {
			ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
		}
		lists, err := d.ServerPreferredResources(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorAs(t, err, new(*ErrGroupDiscoveryFailed), "that is no finding about the server")
		assert.Nil(t, lists)
	})
}

func TestServerVersion(t *testing.T) {
	inForm(t, formV2, Config{}, func(t *testing.T, d *discovered) {
		d.fake.bodies["/version"] = `{"major":"1","gitVersion":"v1.36.3"}`
		version, err := d.ServerVersion(t.Context())
		require.NoError(t, err)
		assert.Equal(t, &api.VersionInfo{GitVersion: "v1.36.3"}, version)
		d.fake.delay = time.Hour
		start := time.Now()
		_, err = d.ServerVersion(t.Context())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, requestTimeout, time.Since(start))
	})
}

// A kube-apiserver that has just started lists its built-in groups, apparently completely, before
// it knows its custom resources. A namespace that was finalized on that basis left its custom
// objects behind.
func TestServersThatAreNotReadyAreNotBelieved(t *testing.T) {
	inForm(t, formV2, Config{OnlyWhenReady: true}, func(t *testing.T, d *discovered) {
		d.fake.refuse["/readyz"] = http.StatusInternalServerError
		cached := NewCached(d.Client)
		started := time.Now()
		lists, err := cached.PreferredNamespacedResources(t.Context(), time.Time{})
		var notReady *NotReadyError
		require.ErrorAs(t, err, &notReady)
		assert.Equal(t, http.StatusInternalServerError, api.CodeOf(err))
		assert.Empty(t, lists)
		assert.Equal(t, []string{"/readyz"}, paths(d.asked, 0), "the only request, made once")
		assert.Zero(t, time.Since(started))

		d.fake.set(func() { delete(d.fake.refuse, "/readyz") })
		lists, err = cached.PreferredNamespacedResources(t.Context(), time.Time{})
		require.NoError(t, err)
		assert.Len(t, lists, 4)
		assert.Equal(t, []string{"/api", "/apis", "/readyz"}, paths(d.asked, 1))
	})
}

// A starting kube-apiserver reads the roles one by one. For a moment it allowed discovery and
// forbade the readiness check. Five namespaces were removed, and their custom objects stayed.
func TestServersThatForbidTheQuestionAreNotBelievedAtOnce(t *testing.T) {
	inForm(t, formV2, Config{OnlyWhenReady: true}, func(t *testing.T, d *discovered) {
		discover := func() error {
			_, err := d.ServerPreferredNamespacedResources(t.Context())
			return err
		}
		require.NoError(t, discover())
		d.fake.set(func() { d.fake.refuse["/readyz"] = http.StatusForbidden })
		asked := len(paths(d.asked, 0))
		var notReady *NotReadyError
		require.ErrorAs(t, discover(), &notReady)
		assert.Contains(t, notReady.Error(), "forbids to ask whether it is ready")
		assert.Equal(t, []string{"/readyz"}, paths(d.asked, asked))
		time.Sleep(refusalIsMeant - time.Second)
		require.ErrorAs(t, discover(), &notReady)
		d.fake.set(func() { d.fake.refuse["/readyz"] = http.StatusInternalServerError })
		require.ErrorAs(t, discover(), &notReady)
		d.fake.set(func() { d.fake.refuse["/readyz"] = http.StatusForbidden })
		time.Sleep(time.Minute)
		require.ErrorAs(t, discover(), &notReady, "there was an answer: it may be another start")
		d.fake.set(func() { d.fake.onGet = func(string) { panic(http.ErrAbortHandler) } })
		time.Sleep(time.Minute)
		asked = len(paths(d.asked, 0))
		require.Error(t, discover())
		assert.NotContains(t, paths(d.asked, asked), "/api", "a server that does not answer is not ready")
		d.fake.set(func() { d.fake.onGet = nil })
		require.ErrorAs(t, discover(), &notReady, "the server was down: it has restarted")
		time.Sleep(refusalIsMeant)
		require.NoError(t, discover(), "that is how the roles are")
		d.fake.set(func() { delete(d.fake.refuse, "/readyz") })
		require.NoError(t, discover())
	})
}

// All users may read it by default, but that depends on roles, and old servers do not have the
// endpoint.
func TestServersThatDoNotSayWhetherTheyAreReadyAreBelieved(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		inForm(t, formV2, Config{OnlyWhenReady: true}, func(t *testing.T, d *discovered) {
			d.fake.refuse["/readyz"] = code
			_, err := d.ServerPreferredNamespacedResources(t.Context())
			assert.NoError(t, err, "%d", code)
		})
	}
}

// A repeated request could reach a server that started after the other was found ready.
func TestDiscoveryOfReadyServersIsNotRepeated(t *testing.T) {
	inForm(t, formV2, Config{OnlyWhenReady: true}, func(t *testing.T, d *discovered) {
		d.fake.refuse["/apis"] = http.StatusServiceUnavailable
		_, err := d.ServerPreferredNamespacedResources(t.Context())
		require.Error(t, err)
		assert.Equal(t, []string{"/api", "/apis", "/readyz"}, paths(d.asked, 0))
	})
}

// form is the format in which a fake server serves discovery.
type form string

const (
	formV2      form = "v2"
	formV2beta1 form = "v2beta1"
	formLegacy  form = "legacy"
)

// fakeServer serves discovery of a few groups.
type fakeServer struct {
	mu        sync.Mutex
	form      form
	groups    []api.APIGroupDiscovery // core first
	broken    map[string]int          // group version: status code of its legacy document; stale in the aggregated form
	refuse    map[string]int          // path: status code
	bodies    map[string]string       // path: the response instead
	clockSkew time.Duration           // how far the clock of the server is ahead of ours
	noDate    bool                    // no Date header
	delay     time.Duration           // before the server reads its state
	slow      time.Duration           // after the server has read its state, before it answers
	onGet     func(path string)       // called before the server reads its state
	most      int                     // maximum of concurrent requests
	now       int                     // concurrent requests
}

var crudVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// resource parses a namespaced resource or, with a leading "!", a cluster-scoped one.
func resource(gv api.GroupVersion, name string, subresources ...string) api.APIResourceDiscovery {
	scope := api.ScopeNamespaced
	if strings.HasPrefix(name, "!") {
		name, scope = name[1:], api.ScopeCluster
	}
	kind := &api.DiscoveryKind{Group: gv.Group, Version: gv.Version, Kind: "Kind" + name}
	r := api.APIResourceDiscovery{Resource: name, SingularResource: strings.TrimSuffix(name, "s"), Scope: scope,
		ResponseKind: kind, Verbs: crudVerbs}
	for _, s := range subresources {
		r.Subresources = append(r.Subresources, api.APISubresourceDiscovery{Subresource: s, ResponseKind: kind,
			Verbs: []string{"get", "update"}})
	}
	return r
}

// group parses a group; versions are "version:resource resource/subresource, ...".
func group(name string, versions ...string) api.APIGroupDiscovery {
	g := api.APIGroupDiscovery{ObjectMeta: api.ObjectMeta{Name: name}}
	for _, text := range versions {
		version, resources, _ := strings.Cut(text, ":")
		gv := api.GroupVersion{Group: name, Version: version}
		v := api.APIVersionDiscovery{Version: version, Freshness: api.FreshnessCurrent}
		for text := range strings.FieldsSeq(resources) {
			parts := strings.Split(text, "/")
			v.Resources = append(v.Resources, resource(gv, parts[0], parts[1:]...))
		}
		g.Versions = append(g.Versions, v)
	}
	return g
}

func newFakeServer(form form) *fakeServer {
	return &fakeServer{
		form: form,
		groups: []api.APIGroupDiscovery{
			group("", "v1: pods/log/status configmaps !nodes"),
			group("apps", "v1: deployments/scale replicasets"),
			group("autoscaling", "v2: horizontalpodautoscalers", "v1: horizontalpodautoscalers oldscalers"),
			group("only.cluster", "v1: !things"),
		},
		broken: map[string]int{}, refuse: map[string]int{}, bodies: map[string]string{},
	}
}

// set changes the server under its lock.
func (s *fakeServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.enter(+1)
	defer s.enter(-1)
	if s.onGet != nil {
		s.onGet(r.URL.Path)
	}
	if !pause(r, s.delay) {
		return
	}
	s.mu.Lock()
	code, body := s.answer(r)
	slow := s.slow
	s.mu.Unlock()
	if !pause(r, slow) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", time.Now().Add(s.clockSkew).UTC().Format(http.TimeFormat))
	if s.noDate {
		w.Header()["Date"] = nil
	}
	w.WriteHeader(code)
	w.Write(body)
}

func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

func (s *fakeServer) enter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += n
	s.most = max(s.most, s.now)
}

func (s *fakeServer) answer(r *http.Request) (int, []byte) {
	path := r.URL.Path
	if body, ok := s.bodies[path]; ok {
		return http.StatusOK, []byte(body)
	}
	if code := s.refuse[path]; code != 0 {
		return refusal(code)
	}
	switch path {
	case "/readyz":
		return http.StatusOK, []byte("ok")
	case "/api", "/apis":
		return encode(s.document(path == "/api", r.Header.Get("Accept")))
	default:
		return s.legacyResources(strings.TrimPrefix(strings.TrimPrefix(path, "/api/"), "/apis/"))
	}
}

func refusal(code int) (int, []byte) {
	_, body := encode(api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: code,
		Message: "the server is currently unable to handle the request",
	})
	return code, body
}

func encode(document any) (int, []byte) {
	body, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return http.StatusOK, body
}

func (s *fakeServer) document(core bool, accept string) any {
	form := s.form
	if !strings.Contains(accept, "apidiscovery.k8s.io;v="+string(form)) {
		form = formLegacy
	}
	var groups []api.APIGroupDiscovery
	for _, g := range s.groups {
		if (g.Name == "") == core {
			groups = append(groups, s.withStale(g))
		}
	}
	switch {
	case form != formLegacy:
		return api.APIGroupDiscoveryList{TypeMeta: api.TypeMeta{Kind: "APIGroupDiscoveryList",
			APIVersion: "apidiscovery.k8s.io/" + string(form)}, Items: groups}
	case core:
		versions := groupsDocument{TypeMeta: api.TypeMeta{Kind: "APIVersions"}}
		for _, g := range groups {
			for _, v := range g.Versions {
				versions.Versions = append(versions.Versions, v.Version)
			}
		}
		return versions
	default:
		list := api.APIGroupList{TypeMeta: api.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, g := range groups {
			list.Groups = append(list.Groups, legacyGroup(g))
		}
		return list
	}
}

func (s *fakeServer) withStale(g api.APIGroupDiscovery) api.APIGroupDiscovery {
	g.Versions = slices.Clone(g.Versions)
	for i := range g.Versions {
		if s.broken[api.GroupVersion{Group: g.Name, Version: g.Versions[i].Version}.String()] != 0 {
			g.Versions[i].Freshness = api.FreshnessStale
		}
	}
	return g
}

func legacyGroup(g api.APIGroupDiscovery) api.APIGroup {
	legacy := api.APIGroup{Name: g.Name}
	for _, v := range g.Versions {
		gv := api.GroupVersion{Group: g.Name, Version: v.Version}
		legacy.Versions = append(legacy.Versions,
			api.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Version})
	}
	legacy.PreferredVersion = legacy.Versions[0]
	return legacy
}

func (s *fakeServer) legacyResources(groupVersion string) (int, []byte) {
	if code := s.broken[groupVersion]; code != 0 {
		return refusal(code)
	}
	for _, g := range s.groups {
		for _, v := range g.Versions {
			gv := api.GroupVersion{Group: g.Name, Version: v.Version}
			if gv.String() == groupVersion {
				return encode(resourceList(gv, v.Resources))
			}
		}
	}
	return refusal(http.StatusNotFound)
}

// discovered is a fake server and a client of it.
type discovered struct {
	*Client
	fake  *fakeServer
	asked *restclienttest.Server
}

// inForm runs a test in a bubble with a server of that form.
func inForm(t *testing.T, form form, cfg Config, test func(t *testing.T, d *discovered)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &discovered{fake: newFakeServer(form)}
		d.Client, d.asked = connect(t, d.fake, cfg)
		test(t, d)
	})
}

// connect returns a client of the server and the record of its requests.
func connect(t *testing.T, s *fakeServer, cfg Config) (*Client, *restclienttest.Server) {
	t.Helper()
	server := restclienttest.NewServer(t, s)
	return NewWithConfig(server.Client(), cfg), server
}

// paths returns the requested paths from index from on, sorted.
func paths(server *restclienttest.Server, from int) []string {
	var out []string
	for _, r := range server.Requests()[from:] {
		out = append(out, r.Path)
	}
	slices.Sort(out)
	return out
}

// names formats lists as "group/version:resource resource".
func names(lists []*api.APIResourceList) []string {
	var out []string
	for _, list := range lists {
		text := list.GroupVersion + ":"
		for _, r := range list.Resources {
			text += " " + r.Name
		}
		out = append(out, text)
	}
	return out
}
