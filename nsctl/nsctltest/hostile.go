package nsctltest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// odd serves one type as another API server may: it owns its answers.
type odd struct {
	*Cluster
	resource string // the end of the paths of the type
	// serve answers a request for the type and reports whether it did; namespace is "" for all.
	serve func(w http.ResponseWriter, r *http.Request, namespace string) bool
}

func (o odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	before, _, ofType := strings.Cut(r.URL.Path, "/"+o.resource)
	_, namespace, _ := strings.Cut(before, "/namespaces/")
	if !ofType || !o.serve(w, r, namespace) {
		o.Cluster.ServeHTTP(w, r)
	}
}

// headsOf returns a list of objects with these names.
func headsOf(next string, names ...string) api.List[*item] {
	list := api.List[*item]{TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
	list.ResourceVersion, list.Continue = "1", next
	for _, name := range names {
		list.Items = append(list.Items, &item{Metadata: api.ObjectMeta{Name: name, UID: name}})
	}
	return list
}

// page returns an object of a type in the namespace "ns": that whose name is the token of the page,
// or the first.
func (c *Cluster) page(resource, token string) api.List[*item] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reapLocked(resource, "ns")
	objects := c.content[resource]["ns"]
	names := slices.Sorted(maps.Keys(objects))
	at, _ := slices.BinarySearch(names, token)
	list := headsOf("")
	if at < len(names) {
		list.Items = []*item{objects[names[at]]}
	}
	if at+1 < len(names) {
		list.Continue = names[at+1]
	}
	return list
}

// afterwards returns a server that lets something happen after a request with this method and end
// of its path has taken effect, and before the answer is sent.
func afterwards(server http.Handler, method, end string, happen func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !is(r, method, end) {
			server.ServeHTTP(w, r)
			return
		}
		answered := httptest.NewRecorder()
		server.ServeHTTP(answered, r)
		happen()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answered.Code)
		_, _ = w.Write(answered.Body.Bytes())
	})
}

const evil = "things.evil.example"

// The list of all namespaces leaves out what the list of one namespace shows: an aggregated API may
// filter or not support it. The objects cannot be deleted. However many namespaces are deleted at
// once, none of them goes.
func (s suite) AListOfAllNamespacesIsNoProof(t *testing.T) {
	var one, none, forbidden any = headsOf("", "one"), headsOf(""),
		Status(403, api.ReasonForbidden, "things are forbidden here")
	tests := map[string]struct {
		deleted, listed any    // the answers to DELETE and LIST
		refused         string // the namespace in which both are refused
	}{
		"DELETE is refused":                    {deleted: forbidden, listed: one},
		"LIST is refused":                      {deleted: one, listed: forbidden},
		"everything is refused":                {deleted: forbidden, listed: forbidden},
		"one namespace of them is refused":     {deleted: one, listed: one, refused: "ns-00"},
		"DELETE claims that there was nothing": {deleted: none, listed: one},
		"DELETE answers, and does nothing":     {deleted: one, listed: one},
		"the first page is empty":              {deleted: forbidden, listed: headsOf("more")},
	}
	for name, test := range tests {
		for _, count := range []int{1, 3} {
			for _, verbs := range [][]string{nil, {"delete", "list"}} {
				BubbleRun(t, fmt.Sprint(name, ", namespaces: ", count, verbs), func(t *testing.T, c *Cluster) {
					c.Types = map[string][]string{"v1": {"configmaps", "pods"}, "evil.example/v1": {"things"}}
					c.Verbs[evil] = verbs
					names := Crowd(c, count)
					server := odd{Cluster: c, resource: "things"}
					server.serve = func(w http.ResponseWriter, r *http.Request, namespace string) bool {
						switch {
						case namespace == "":
							answer(w, none)
						case namespace == test.refused:
							answer(w, forbidden)
						case r.Method == http.MethodDelete:
							answer(w, test.deleted)
						case r.URL.Query().Get("continue") != "":
							answer(w, one)
						default:
							answer(w, test.listed)
						}
						return true
					}
					workers := func(config *nsctl.Config, _ *nsctl.DeleterConfig) { config.Pool.Workers = count }
					StartController(t, server, s.New, workers)
					time.Sleep(30 * time.Second)
					for _, name := range names {
						c.Existing(t, name)
						assert.Empty(t, c.Left(name), "the type must not block the others")
						failure := ConditionOf(c.Existing(t, name), api.NamespaceDeletionContentFailure)
						assert.Equal(t, api.ConditionTrue, failure.Status,
							"the conditions say what holds the namespace")
					}
				})
			}
		}
	}
}

// A namespace whose own pass was refused, or left something, does not go because the list of all
// namespaces shows nothing, whatever the group. It may be alone at first.
func (s suite) ANamespaceDoesNotGoAfterARefusal(t *testing.T) {
	for name, body := range map[string]any{
		"refused": Status(403, api.ReasonForbidden, "no"),
		"held":    headsOf("", "one"),
	} {
		BubbleRun(t, name, func(t *testing.T, c *Cluster) {
			c.Types = map[string][]string{"v1": {"configmaps", "pods", "secrets"}, "apps/v1": {"deployments"}}
			c.AddNamespace("alone", true, "kubernetes")
			server := odd{Cluster: c, resource: "deployments"}
			server.serve = func(w http.ResponseWriter, r *http.Request, namespace string) bool {
				switch {
				case namespace == "":
					answer(w, headsOf(""))
				case namespace != "alone":
					return false
				case r.Method == http.MethodGet:
					answer(w, headsOf("", "one"))
				default:
					answer(w, body)
				}
				return true
			}
			c.Refuse(func(r *http.Request) *api.Status {
				inCrowd := strings.HasSuffix(r.URL.Path, "/configmaps") && !strings.Contains(r.URL.Path, "/alone/")
				if inCrowd && r.Method == http.MethodDelete {
					time.Sleep(time.Minute) // many passes are under way while that of the namespace is repeated
				}
				return nil
			})
			workers := func(config *nsctl.Config, _ *nsctl.DeleterConfig) { config.Pool.Workers = 25 }
			StartController(t, server, s.New, workers)
			time.Sleep(10 * time.Second)
			names := Crowd(c, 20)
			time.Sleep(3 * time.Minute)
			c.Existing(t, "alone")
			AssertAllGone(t, c, names)
		})
	}
}

// A list without an end is refused, by name, and soon. The other types are deleted, and other
// namespaces go.
func (s suite) AListWithoutAnEndIsRefused(t *testing.T) {
	tests := map[string]func(page int) api.List[*item]{
		"one token":                func(int) api.List[*item] { return headsOf("again", "one") },
		"fresh tokens, no objects": func(page int) api.List[*item] { return headsOf(fmt.Sprint("page-", page)) },
		"two tokens":               func(page int) api.List[*item] { return headsOf(fmt.Sprint("p-", page%2), "one") },
	}
	for name, list := range tests {
		for _, verbs := range [][]string{nil, {"delete", "list"}} {
			BubbleRun(t, fmt.Sprint(name, verbs), func(t *testing.T, c *Cluster) {
				c.Types = map[string][]string{"v1": {"pods", "secrets"}, "evil.example/v1": {"things"}}
				c.Verbs[evil] = verbs
				c.AddNamespace("doomed", true, "kubernetes")
				c.AddNamespace("other", true, "kubernetes")
				c.Put("secrets.", "doomed", "s")
				pages := 0
				server := odd{Cluster: c, resource: "things"}
				server.serve = func(w http.ResponseWriter, r *http.Request, namespace string) bool {
					switch {
					case namespace != "doomed":
						return false
					case r.Method == http.MethodGet:
						pages++
						answer(w, list(pages))
					default:
						answer(w, api.Status{Status: api.StatusSuccess})
					}
					return true
				}
				deleter := s.newDeleter(t, server)
				err := deleter.Delete(t.Context(), "doomed")
				var endless *nsctl.EndlessListError
				require.ErrorAs(t, err, &endless, "a list without an end was believed")
				most := map[string]int{"one token": 4}[name] // two lists of two pages
				assert.LessOrEqual(t, pages, cmp.Or(most, 2000), "the list is given up after a bounded number of pages")
				failure := ConditionOf(c.Existing(t, "doomed"), api.NamespaceDeletionContentFailure)
				assert.Contains(t, failure.Message, "the list of "+evil+" does not end",
					"the condition names the type")
				assert.Empty(t, c.Left("doomed"), "the type must not block the others")
				require.NoError(t, deleter.Delete(t.Context(), "other"))
				c.AssertGone(t, "other")
			})
		}
	}
}

// Objects that have to be deleted one by one are deleted page by page: no more than a page is in
// memory, and what was deleted stays deleted when a later page fails.
func (s suite) OneByOneGoesPageByPage(t *testing.T) {
	for name, failing := range map[string]bool{"all pages": false, "the third page fails": true} {
		BubbleRun(t, name, func(t *testing.T, c *Cluster) {
			c.Verbs["services."] = []string{"delete", "list"}
			c.AddNamespace("ns", true, "kubernetes")
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				c.Put("services.", "ns", name)
			}
			var mu sync.Mutex
			var story []string
			server := odd{Cluster: c, resource: "services"}
			server.serve = func(w http.ResponseWriter, r *http.Request, namespace string) bool {
				mu.Lock()
				defer mu.Unlock()
				token := r.URL.Query().Get("continue")
				story = append(story, r.Method[:1]+token+r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
				switch {
				case r.Method != http.MethodGet:
					return false
				case token == "c" && failing:
					answer(w, Status(500, api.ReasonInternalError, "no third page"))
				default:
					answer(w, c.page("services.", token))
				}
				return true
			}
			err := s.newDeleter(t, server).Delete(t.Context(), "ns")
			if first := slices.Index(story, "Da"); assert.Positive(t, first, "%v", story) {
				assert.Equal(t, []string{"Da", "Gbservices", "Db", "Gcservices"}, story[first:first+4],
					"each page is deleted before the next one is read")
			}
			if failing {
				requireFailureOf(t, err, "services")
				assert.Equal(t, []string{"services./c", "services./d", "services./e"}, c.Left("ns"))
				return
			}
			require.NoError(t, err)
			c.AssertGone(t, "ns")
		})
	}
}

// A type without the verb list can only be counted by the answer to its deletion. An answer that
// cannot be read, or that is a part, does not say that nothing is left.
func (s suite) AnAnswerThatIsNotReadIsNoProof(t *testing.T) {
	answers := map[string]string{
		"it is too long": strings.Repeat(" ", 2<<20) + "{}",
		"it has another page": `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1","continue":"x"},
			"items":[{"metadata":{"name":"a","namespace":"ns","finalizers":["example.com/hold"]}}]}`,
		"it is a page of a proxy": "<html>Log in</html>",
	}
	for name, answer := range answers {
		BubbleRun(t, name, func(t *testing.T, c *Cluster) {
			c.Verbs["secrets."] = []string{"delete", "deletecollection"}
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("secrets.", "ns", "a", WithFinalizers("example.com/hold"))
			c.Answers = map[string]string{"secrets.": answer}
			client := NewClient(t, c).WithListLimit(1 << 20)
			assert.Error(t, deleterOf(client, s.New).Delete(t.Context(), "ns"), "a Secret is left")
			assert.Equal(t, []string{"kubernetes"}, c.Existing(t, "ns").Spec.Finalizers,
				"the namespace was finalized with content")
		})
	}
}
