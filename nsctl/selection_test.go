package nsctl_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
	"orrery/restclient"
	"orrery/restclient/api"
)

func TestSelection(t *testing.T) {
	for patterns, names := range map[string]struct{ selected, others string }{
		"":                {"a default kube-system", ""},
		"team-*":          {"team-a team-a-b", "team other-team-a default"},
		"team-*,-team-x":  {"team-a team-xy", "team-x default"},
		"-team-x,team-*":  {"team-a", "team-x default"}, // the order does not matter
		"-kube-*,-shop":   {"default team-a", "kube-system shop"},
		"pr-????,staging": {"pr-0815 staging", "pr-815 pr-08155 staging-2"},
		"*,-*-keep":       {"a keep", "a-keep"},
	} {
		t.Run(patterns, func(t *testing.T) {
			var list []string
			if patterns != "" {
				list = strings.Split(patterns, ",")
			}
			selection, err := nsctl.ParseSelection(list)
			require.NoError(t, err)
			for name := range strings.FieldsSeq(names.selected) {
				assert.True(t, selection.Selects(name), name)
			}
			for name := range strings.FieldsSeq(names.others) {
				assert.False(t, selection.Selects(name), name)
			}
			assert.Equal(t, patterns == "", selection.All())
		})
	}
}

func TestPatternsThatMatchNothingAreRefused(t *testing.T) {
	for _, pattern := range []string{"", "-", "--a", "Team", "team-", "a/b", "a.b", "[ab]", "a b", `a\*`} {
		_, err := nsctl.ParseSelection([]string{"fine", pattern})
		assert.ErrorContains(t, err, "matches no namespace", pattern)
	}
	for patterns, undone := range map[string]string{
		"a*,-a*": "a*", "a,b,-b": "b", "team-*,-*": "team-*", "-*": "*", "a-b*,-a*": "a-b*", "a?,-a*": "a?",
		"a*,-a?*": "", "a*,-a-*": "", "a?,-ab": "", "a*,-a?": "", "-a*": "",
	} {
		_, err := nsctl.ParseSelection(strings.Split(patterns, ","))
		if undone == "" {
			assert.NoError(t, err, patterns)
			continue
		}
		assert.ErrorContains(t, err, "excludes all that \""+undone+"\" includes", patterns)
	}
	selection, err := nsctl.ParseSelection([]string{"-team-x", "team-*", "?"})
	require.NoError(t, err)
	assert.Equal(t, "team-*,?,-team-x", selection.String())
	assert.Equal(t, "*", nsctl.Selection{}.String())
}

// Namespaces that are not selected stay unchanged, whenever they were deleted; no request or
// report concerns them, and only their number is known.
func TestNamespacesThatAreNotSelectedAreLeftAlone(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		for _, name := range []string{"team-a", "team-x", "other"} {
			c.AddNamespace(name, true, "kubernetes")
			c.Put("configmaps.", name, "content")
		}
		c.AddNamespace("late", false, "kubernetes")
		var said, asked names
		c.Refuse(func(r *http.Request) *api.Status {
			asked.add(r.URL.Path)
			return nil
		})
		selection, err := nsctl.ParseSelection([]string{"team-*", "-team-x"})
		require.NoError(t, err)
		r := nsctltest.StartController(t, c, nsctl.NewDeleter, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.Selection, config.ResyncPeriod = selection, time.Minute
			config.Trace = &nsctl.Trace{
				Enqueued:    func(namespace *api.Namespace, _ time.Duration) { said.add(namespace.Name) },
				PassStarted: said.add,
				Gone:        func(name string, _ time.Duration) { said.add(name) },
			}
		})
		time.Sleep(time.Second)
		assert.Len(t, r.InDeletion(), 1)
		c.Terminate("late")
		time.Sleep(5 * time.Minute)
		assert.Nil(t, c.Namespace("team-a"))
		for _, name := range []string{"team-x", "other"} {
			assert.NotEmpty(t, c.Left(name), name)
		}
		assert.NotNil(t, c.Namespace("late"))
		snapshot := r.Snapshot()
		assert.Zero(t, snapshot.Deleting)
		assert.Equal(t, 3, snapshot.PassedOver)
		assert.Equal(t, "team-*,-team-x", snapshot.Selection.String())
		assert.Empty(t, snapshot.Queue.Delayed)
		assert.Empty(t, r.InDeletion())
		r.Stop()
		for _, name := range said.all() {
			assert.Equal(t, "team-a", name)
		}
		assert.NotEmpty(t, said.all())
		for _, path := range asked.all() {
			for _, name := range []string{"team-x", "other", "late"} {
				assert.NotContains(t, path, "/"+name)
			}
		}
	})
}

// fixedTypes is a discovery that always has the same answer.
type fixedTypes struct {
	lists []*api.APIResourceList
	err   error
}

func (f fixedTypes) PreferredNamespacedResources(context.Context, time.Time) ([]*api.APIResourceList, error) {
	return f.lists, f.err
}

func (fixedTypes) Invalidate() {}

func manyTypes(count int) fixedTypes {
	list := &api.APIResourceList{GroupVersion: "example.com/v1"}
	for i := range count {
		list.Resources = append(list.Resources, api.APIResource{Name: "type" + string(rune('a'+i)),
			Verbs: []string{"delete", "list"}})
	}
	list.Resources = append(list.Resources, api.APIResource{Name: "unlistable", Verbs: []string{"delete"}})
	return fixedTypes{lists: []*api.APIResourceList{list}}
}

// Look reads every type that can be listed, eight at a time, and names those that it could not
// read.
func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		var read []string
		began := time.Now()
		looked := nsctl.Look(t.Context(), manyTypes(20), began,
			func(_ context.Context, resource nsctl.DeletableResource) error {
				mu.Lock()
				running++
				most = max(most, running)
				read = append(read, resource.GVR.Resource)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				switch resource.GVR.Resource {
				case "typec":
					return errors.New("refused")
				case "typed":
					panic("a decoder broke")
				}
				return nil
			})
		assert.Equal(t, 8, most)
		assert.Equal(t, 3*time.Second, time.Since(began))
		slices.Sort(read)
		assert.Len(t, slices.Compact(read), 20)
		assert.NotContains(t, read, "unlistable")
		require.Len(t, looked.Errs, 21)
		assert.ErrorContains(t, looked.Errs[2], "listing of typec.example.com: refused")
		assert.ErrorContains(t, looked.Errs[3], "a decoder broke")
		assert.ErrorContains(t, looked.Err(), "2 errors")
	})
}

// A discovery without any type, or with a failure, is an error: types may be missing.
func TestLookWithoutTypes(t *testing.T) {
	none := func(context.Context, nsctl.DeletableResource) error { return nil }
	assert.ErrorIs(t, nsctl.Look(t.Context(), fixedTypes{}, time.Time{}, none).Err(), nsctl.ErrNothingDiscovered)
	broken := manyTypes(1)
	broken.err = errors.New("a group is down")
	looked := nsctl.Look(t.Context(), broken, time.Time{}, none)
	assert.Equal(t, broken.err, looked.DiscoveryErr)
	assert.Len(t, looked.Resources, 2)
}

// kubectl apply writes an object into its own annotation, so the heads of a page may be large. A
// page that is larger than the client accepts is requested again in smaller parts.
func TestPagesThatAreTooLargeBecomeSmaller(t *testing.T) {
	for name, c := range map[string]struct {
		maxBytes int
		limits   []string
	}{
		"some objects fit": {2 << 20, []string{"500", "50", "5", "5"}},
		"one object fits":  {150 << 10, []string{"500", "50", "5", "1", "1"}},
	} {
		t.Run(name, func(t *testing.T) { readLargePages(t, c.maxBytes, c.limits) })
	}
}

func readLargePages(t *testing.T, maxBytes int, first []string) {
	const objects = 60
	var limits []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		limits = append(limits, query.Get("limit"))
		limit, _ := strconv.Atoi(query.Get("limit"))
		from, _ := strconv.Atoi(query.Get("continue"))
		var list api.List[*api.PartialObjectMetadata]
		list.APIVersion, list.Kind, list.ResourceVersion = "meta.k8s.io/v1", "PartialObjectMetadataList", "1"
		for i := from; i < min(objects, from+limit); i++ {
			item := &api.PartialObjectMetadata{}
			item.Name, item.Annotations = strconv.Itoa(i), map[string]string{"applied": strings.Repeat("x", 100<<10)}
			list.Items = append(list.Items, item)
		}
		if from+limit < objects {
			list.Continue = strconv.Itoa(from + limit)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list) // the client may have read enough
	}))
	defer server.Close()
	client, err := restclient.New(restclient.Config{Host: server.URL, MaxListBytes: maxBytes})
	require.NoError(t, err)
	var names []string
	err = nsctl.NewContentClient(client).Pages(t.Context(),
		api.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ns",
		func(page []*api.PartialObjectMetadata) error {
			for _, item := range page {
				names = append(names, item.Name)
			}
			return nil
		})
	require.NoError(t, err, "a namespace with large annotations must not stay for ever")
	assert.Len(t, names, objects, "each object is read once")
	assert.Equal(t, first, limits[:len(first)], "after a page that is too large smaller ones are requested")
}

// An answer that is cut into pages shows only a part of what there is.
func TestOnlyAWholeAnswerIsComplete(t *testing.T) {
	pods := api.GroupVersionResource{Version: "v1", Resource: "pods"}
	for next, whole := range map[string]bool{"": true, "more": false} {
		var list api.List[*api.PartialObjectMetadata]
		list.APIVersion, list.Kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
		list.ResourceVersion, list.Continue = "1", next
		item := &api.PartialObjectMetadata{}
		item.Name, item.Namespace = "a", "ns"
		list.Items = append(list.Items, item)
		content := contentOf(t, 0, func(w http.ResponseWriter) { assert.NoError(t, json.NewEncoder(w).Encode(list)) })
		found, listed, err := content.DeleteCollection(t.Context(), pods, "ns")
		require.NoError(t, err)
		assert.Len(t, found, 1)
		assert.Equal(t, whole, listed, "the answer to a deletion, continued with %q", next)
		namespaces, complete, err := content.Holders(t.Context(), pods)
		require.NoError(t, err)
		assert.Equal(t, map[string]bool{"ns": true}, namespaces)
		assert.Equal(t, whole, complete, "a list of all namespaces, continued with %q", next)
	}
}

func TestAnObjectThatIsTooLargeAlone(t *testing.T) {
	large := []byte(`{"kind":"` + strings.Repeat("x", 200<<10))
	content := contentOf(t, 100<<10, func(w http.ResponseWriter) { _, _ = w.Write(large) })
	_, err := content.List(t.Context(), api.PodsResource, "ns")
	var tooLarge *restclient.TooLargeError
	assert.ErrorAs(t, err, &tooLarge, "a page of one object cannot become smaller")
}

// contentOf returns the content client of a server that gives one answer.
func contentOf(t *testing.T, maxBytes int, answer func(http.ResponseWriter)) nsctl.ContentClient {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer(w)
	}))
	t.Cleanup(server.Close)
	client, err := restclient.New(restclient.Config{Host: server.URL, MaxListBytes: maxBytes})
	require.NoError(t, err)
	return nsctl.NewContentClient(client)
}
