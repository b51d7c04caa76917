package discovery

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// manyTypes serves one group with so many types, as an aggregated API can, in both forms.
func manyTypes(aggregatedType, legacyType string, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		aggregated := strings.Contains(r.Header.Get("Accept"), "apidiscovery")
		write := func(begin, each, end string) {
			io.WriteString(w, begin)
			for range n - 1 {
				if _, err := io.WriteString(w, each+","); err != nil {
					return
				}
			}
			io.WriteString(w, each+end)
		}
		switch {
		case r.URL.Path == "/api" && aggregated:
			io.WriteString(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"m`+
				`etadata":{},"versions":[{"version":"v1",`+
				`"resources":[{"resource":"pods","scope":"Namespaced","responseKind":{"kind":"Pod"},"verbs":["lis`+
				`t"]}]}]}]}`)
		case r.URL.Path == "/apis" && aggregated:
			write(`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"n`+
				`ame":"evil.io"},`+
				`"versions":[{"version":"v1","resources":[`, aggregatedType, `]}]}]}`)
		case r.URL.Path == "/apis":
			io.WriteString(w, `{"kind":"APIGroupList","groups":[{"name":"evil.io","versions":[{"version":"v1"}]},`+
				`{"name":"good.io","versions":[{"version":"v1"}]}]}`)
		case r.URL.Path == "/apis/good.io/v1":
			io.WriteString(w, `{"kind":"APIResourceList","resources":[{"name":"things","namespaced":true,"kind":"`+
				`Thing"}]}`)
		case r.URL.Path == "/apis/evil.io/v1":
			write(`{"kind":"APIResourceList","resources":[`, legacyType, `]}`)
		}
	}
}

// An aggregated API that lists hundreds of thousands of types is refused by name, in little memory,
// and hides no other group.
func TestTooManyTypes(t *testing.T) {
	for name, types := range map[string][2]string{
		"ordinary": {
			`{"resource":"widgets","scope":"Namespaced","responseKind":{"kind":"Widget"},"verbs":["delete","list"]}`,
			`{"name":"widgets","namespaced":true,"kind":"Widget","verbs":["delete","list"]}`,
		},
		"short":        {`{"resource":"a"}`, `{"name":"a"}`},
		"subresources": {`{"subresources":[{},{},{}]}`, `{"name":"a/b"}`},
		"verbs": {`{"verbs":["","","","","","","","","","","","","","","","","",""]}`,
			`{"verbs":["","","","","",""]}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := restclienttest.NewServer(t, manyTypes(types[0], types[1], 692_589))
				cached := NewCached(New(server.Client()))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				lists, err := cached.PreferredNamespacedResources(t.Context(), time.Time{})
				runtime.ReadMemStats(&after)
				var failed *ErrGroupDiscoveryFailed
				require.ErrorAs(t, err, &failed)
				require.Len(t, failed.Groups, 1)
				evil := failed.Groups[api.GroupVersion{Group: "evil.io", Version: "v1"}]
				var large *restclient.TooLargeError
				assert.ErrorAs(t, evil, &large, "the group version with too many types is refused by name")
				assert.ErrorContains(t, evil, "/apis/evil.io/v1")
				assert.Equal(t, []string{"v1: pods", "good.io/v1: things"}, names(lists), "the others are offered")
				assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(150),
					"MiB allocated, the garbage included")
			})
		})
	}
}

// Names that cannot be part of a path are failures, and are not offered.
func TestNamesThatCannotBePartOfAPath(t *testing.T) {
	inEachForm(t, func(t *testing.T, d *discovered) {
		for _, bad := range []string{"", ".", "..", "../../v1/secrets", "a%2fb", "a\x00b", "a\nb"} {
			for what, set := range map[string]func(g *api.APIGroupDiscovery){
				"group":    func(g *api.APIGroupDiscovery) { g.Name = bad },
				"version":  func(g *api.APIGroupDiscovery) { g.Versions[0].Version = bad },
				"resource": func(g *api.APIGroupDiscovery) { g.Versions[0].Resources[0].Resource = bad },
				"subresource": func(g *api.APIGroupDiscovery) {
					g.Versions[0].Resources[0].Subresources = []api.APISubresourceDiscovery{{Subresource: bad,
						ResponseKind: &api.DiscoveryKind{Kind: "X"}}}
				},
			} {
				if what == "group" && bad == "" || d.fake.form == formLegacy && strings.Contains(bad, "/") &&
					what != "group" && what != "version" {
					continue // the fake server cannot say it: a group without a name is the core, and a/b a subresource
				}
				evil := group("evil.io", "v1: widgets gadgets")
				set(&evil)
				d.fake.groups = append(newFakeServer(d.fake.form).groups, evil)
				lists, err := d.ServerPreferredNamespacedResources(t.Context())
				label := fmt.Sprintf("the %s %q", what, bad)
				var failed *ErrGroupDiscoveryFailed
				require.ErrorAs(t, err, &failed, label)
				gv := api.GroupVersion{Group: evil.Name, Version: evil.Versions[0].Version}
				require.Contains(t, failed.Groups, gv, label)
				require.Len(t, failed.Groups, 1, label)
				var wrong *restclient.NameError
				require.ErrorAs(t, failed.Groups[gv], &wrong, "%s is a discovery failure by name", label)
				for _, text := range names(lists) {
					if strings.HasPrefix(text, "evil.io/v1:") {
						assert.Equal(t, what == "subresource", strings.Contains(text, "widgets"),
							"%s is not offered", label)
						assert.Contains(t, text, "gadgets", "%s: the other type is", label)
					}
				}
				assert.Contains(t, names(lists), "v1: pods configmaps", label)
				for _, path := range paths(d.asked, 0) {
					assert.NotContains(t, path, "..", "%s is not asked for", label)
				}
			}
		}
	})
}

// Only /api has a group without a name. In /apis it would replace the core group.
func TestACoreGroupInAPIs(t *testing.T) {
	inForm(t, formV2, Config{}, func(t *testing.T, d *discovered) {
		d.fake.bodies["/apis"] = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
			{"metadata":{"name":""},"versions":[{"version":"v1","resources":[
				{"resource":"widgets","scope":"Namespaced","responseKind":{"kind":"Widget"}}]}]}]}`
		lists, err := d.ServerPreferredNamespacedResources(t.Context())
		assert.ErrorContains(t, err, `the group "" is empty`)
		assert.Equal(t, []string{"v1: pods configmaps"}, names(lists))
	})
}

// A redirect is neither an absent group nor an empty one.
func TestARedirectedDiscovery(t *testing.T) {
	for _, path := range []string{"/api", "/apis", "/apis/apps/v1"} {
		synctest.Test(t, func(t *testing.T) {
			s := newFakeServer(formLegacy)
			server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					http.Redirect(w, r, "http://elsewhere.test/apis", http.StatusFound)
					return
				}
				s.ServeHTTP(w, r)
			}))
			_, err := New(server.Client()).ServerPreferredResources(t.Context())
			require.Error(t, err, "%s is redirected", path)
			if failed, ok := errors.AsType[*ErrGroupDiscoveryFailed](err); ok {
				err = failed.Groups[api.GroupVersion{Group: "apps", Version: "v1"}]
			}
			var redirect *restclient.RedirectError
			require.ErrorAs(t, err, &redirect)
			assert.Equal(t, "elsewhere.test", redirect.Host)
		})
	}
}
