package discovery

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

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
