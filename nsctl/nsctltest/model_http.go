package nsctltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

// worldServer serves a world over HTTP. Lists have pages whose tokens expire, connections break,
// and discovery is a cached document. The clients between it and the deleter are the real ones.
type worldServer struct {
	worldContent
	rest map[string][]*api.PartialObjectMetadata // state of each continue token; guarded by mu
}

// The properties of the model also hold with the real HTTP clients.
func (s suite) TheDeleterNeverFinalizesANamespaceWithContentOverHTTP(t *testing.T) {
	done, gone := 0, 0
	for seed := *modelSeed; done < steps()/10; seed++ {
		w := s.runWorld(t, seed, withHTTP)
		require.Empty(t, w.violations, "seed %d", seed)
		require.Empty(t, w.lingering, "seed %d: the faults ended long ago", seed)
		done += w.steps
		gone += w.gone
	}
	t.Logf("seeds from %d: %d steps, %d namespaces deleted", *modelSeed, done, gone)
	assert.Positive(t, gone)
}

// The test of the test: a server whose lists end after the first page without a token is found.
func (s suite) TheModelFindsTruncatedListsOverHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("a test of the model and not of a deleter")
	}
	seeds := 300
	if !s.has(ChecksEmptiness) {
		seeds = 1 // it never requests these lists
	}
	var violations []string
	seed := uint64(12) // this world nearly always finds it
	for ; seeds > 0 && len(violations) == 0; seeds-- {
		violations = s.runWorld(t, seed, func(t *testing.T, config *nsctl.Config, deleter *nsctl.DeleterConfig) {
			withHTTP(t, config, deleter)
			deleter.Content = forgetful{deleter.Content}
		}).violations
		seed++
	}
	t.Logf("found by seed %d", seed-1)
	assert.Equal(t, s.has(ChecksEmptiness), len(violations) > 0)
}

// forgetful reads only the first page.
type forgetful struct{ nsctl.ContentClient }

func (f forgetful) Holders(ctx context.Context, gvr api.GroupVersionResource) (map[string]bool, bool, error) {
	holders, _, err := f.ContentClient.Holders(ctx, gvr)
	return holders, err == nil, err
}

func withHTTP(t *testing.T, _ *nsctl.Config, deleter *nsctl.DeleterConfig) {
	server := &worldServer{worldContent: deleter.Content.(worldContent), rest: map[string][]*api.PartialObjectMetadata{}}
	client := NewClient(t, server)
	deleter.Namespaces = restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	deleter.Content = nsctl.NewContentClient(client)
	deleter.Discovery = NewDiscovery(client)
}

func (s *worldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := s.serve(r)
	var refused *api.StatusError
	switch {
	case errors.As(err, &refused):
		answer(w, refused.Status.Code, refused.Status)
	case err != nil:
		panic(http.ErrAbortHandler) // the connection breaks
	default:
		answer(w, 200, body)
	}
}

// serve dispatches a request by its path.
func (s *worldServer) serve(r *http.Request) (any, error) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/readyz":
		return "ok", nil
	case len(path) == 1:
		return s.discovery(r, path[0] == "api")
	case path[0] == "api" && len(path) > 3 && path[2] == "namespaces" && (len(path) == 4 || path[4] == "status" || path[4] == "finalize"):
		return s.namespace(r, path[3:])
	}
	gvr := api.GroupVersionResource{Version: path[1]}
	path = path[1:]
	if strings.HasPrefix(r.URL.Path, "/apis/") {
		gvr.Group, gvr.Version = path[0], path[1]
		path = path[1:]
	}
	namespace := ""
	if path[1] == "namespaces" {
		namespace, path = path[2], path[2:]
	}
	gvr.Resource = path[1]
	switch {
	case len(path) == 3:
		object := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: path[2]}}
		return success, s.worldContent.Delete(r.Context(), gvr, namespace, object)
	case r.Method == http.MethodDelete:
		return s.deleteCollection(r, gvr, namespace)
	}
	return s.list(r, gvr, namespace)
}

var success = api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: api.StatusSuccess}

func (s *worldServer) namespace(r *http.Request, path []string) (any, error) {
	if r.Method == http.MethodGet {
		return s.world.Get(r.Context(), path[0], api.GetOptions{})
	}
	sent := &api.Namespace{}
	if err := json.NewDecoder(r.Body).Decode(sent); err != nil {
		return nil, err
	}
	if path[1] == "status" {
		return s.world.UpdateStatus(r.Context(), sent, api.UpdateOptions{})
	}
	return s.world.UpdateSubresource(r.Context(), path[0], path[1], sent, api.UpdateOptions{})
}

// discovery serves one of the two aggregated documents.
func (s *worldServer) discovery(r *http.Request, core bool) (any, error) {
	list := api.APIGroupDiscoveryList{TypeMeta: api.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	err := s.do(r.Context(), "discover "+r.URL.Path, func() error {
		groups := map[api.GroupVersion][]api.APIResourceDiscovery{} // each type has one version at a time
		for gvr, t := range s.types {
			gv := api.GroupVersion{Group: gvr.Group, Version: gvr.Version}
			groups[gv] = append(groups[gv], api.APIResourceDiscovery{
				Resource: gvr.Resource, Scope: api.ScopeNamespaced, SingularResource: gvr.Resource, Verbs: t.verbs,
				ResponseKind: &api.DiscoveryKind{Group: gvr.Group, Version: gvr.Version, Kind: gvr.Resource},
			})
		}
		for gv, resources := range groups {
			if (gv.Group == "") != core {
				continue
			}
			version := api.APIVersionDiscovery{Version: gv.Version, Freshness: api.FreshnessCurrent, Resources: resources}
			if s.stale[gv.Group] {
				version.Freshness, version.Resources = api.FreshnessStale, nil
			}
			list.Items = append(list.Items, api.APIGroupDiscovery{
				ObjectMeta: api.ObjectMeta{Name: gv.Group}, Versions: []api.APIVersionDiscovery{version},
			})
		}
		return nil
	})
	return list, err
}

func listOf(items []*api.PartialObjectMetadata, next string) api.List[*api.PartialObjectMetadata] {
	return api.List[*api.PartialObjectMetadata]{
		TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		ListMeta: api.ListMeta{ResourceVersion: "1", Continue: next}, Items: items,
	}
}

func (s *worldServer) deleteCollection(r *http.Request, gvr api.GroupVersionResource, namespace string) (any, error) {
	found, listed, err := s.worldContent.DeleteCollection(r.Context(), gvr, namespace)
	switch {
	case err != nil:
		return nil, err
	case listed:
		return listOf(found, ""), nil
	case len(namespace)%2 == 0:
		return success, nil
	}
	return listOf(nil, "there is more"), nil
}

// worldPageOverHTTP is the number of objects of a namespace on a page.
const worldPageOverHTTP = 3

// list serves one page of a list.
func (s *worldServer) list(r *http.Request, gvr api.GroupVersionResource, namespace string) (any, error) {
	var items []*api.PartialObjectMetadata
	next := ""
	err := s.inCollection(r.Context(), "list", gvr, namespace, func() error {
		token, page := r.URL.Query().Get("continue"), worldPageOverHTTP
		switch {
		case token != "" && (s.rest[token] == nil || s.hostile && s.drawLocked("token").IntN(4) == 0):
			return api.NewStatusError(*Status(410, api.ReasonExpired, "the continue token is too old"))
		case token != "":
			items = s.rest[token]
		case namespace != "":
			items = s.objectsLocked(gvr, namespace)
		default:
			page = worldPage
			for name := range s.content {
				items = append(items, s.objectsLocked(gvr, name)...)
			}
		}
		if r.URL.Query().Get("limit") != "" && len(items) > page {
			s.born++
			next = fmt.Sprint("token-", s.born)
			s.rest[next] = slices.Clone(items[page:])
			items = items[:page]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if gvr == api.PodsResource && !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		return s.podsOf(items, next), nil
	}
	return listOf(items, next), nil
}

func (s *worldServer) podsOf(heads []*api.PartialObjectMetadata, next string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := api.List[*item]{TypeMeta: api.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: api.ListMeta{ResourceVersion: "1", Continue: next}}
	for _, head := range heads {
		pod := &item{Metadata: head.ObjectMeta}
		if object := s.content[head.Namespace][worldKey{api.PodsResource, head.Name}]; object != nil {
			seconds := int64(object.grace.Seconds())
			pod.Spec.Grace = &seconds
		}
		list.Items = append(list.Items, pod)
	}
	return list
}
