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
		assert.Equal(t, 1, r.Deleting())
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
	var read names
	var looked nsctl.Looked
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		looked = nsctl.Look(t.Context(), manyTypes(20), time.Time{},
			func(_ context.Context, resource nsctl.DeletableResource) error {
				time.Sleep(time.Second) // virtual
				read.add(resource.GVR.Resource)
				if resource.GVR.Resource == "typec" {
					return errors.New("refused")
				}
				return nil
			})
		assert.Equal(t, 3*time.Second, time.Since(began), "want 20 types read eight at a time, a second each")
	})
	types := slices.Sorted(slices.Values(read.all()))
	assert.Len(t, slices.Compact(types), 20)
	assert.NotContains(t, types, "unlistable")
	require.Len(t, looked.Errs, 21)
	assert.ErrorContains(t, looked.Errs[2], "listing of typec.example.com: refused")
	assert.EqualError(t, looked.Err(), "listing of typec.example.com: refused")
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

// contentOf returns the content client of a server that gives these answers.
func contentOf(t *testing.T, maxBytes int, answer func(r *http.Request) any) nsctl.ContentClient {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer(r)) // the client may have read enough
	}))
	t.Cleanup(server.Close)
	client, err := restclient.New(restclient.Config{Host: server.URL, MaxListBytes: maxBytes})
	require.NoError(t, err)
	return nsctl.NewContentClient(client)
}

// headsOf returns a list of objects with such an annotation.
func headsOf(next, annotation string, names ...string) (list api.List[*api.PartialObjectMetadata]) {
	list.APIVersion, list.Kind, list.ResourceVersion = "meta.k8s.io/v1", "PartialObjectMetadataList", "1"
	list.Continue = next
	for _, name := range names {
		item := &api.PartialObjectMetadata{}
		item.Name, item.Namespace, item.Annotations = name, "ns", map[string]string{"applied": annotation}
		list.Items = append(list.Items, item)
	}
	return list
}

// kubectl apply writes an object into its own annotation, so the heads of a page may be large. A
// page that is larger than the client accepts is requested again in smaller parts.
func TestPagesThatAreTooLargeBecomeSmaller(t *testing.T) {
	for maxBytes, first := range map[int][]string{ // some objects fit, one fits, none fits
		200 << 10: {"500", "50", "5", "5"},
		15 << 10:  {"500", "50", "5", "1", "1"},
		5 << 10:   {"500", "50", "5", "1"},
	} {
		var limits []string
		content := contentOf(t, maxBytes, func(r *http.Request) any {
			limits = append(limits, r.URL.Query().Get("limit"))
			limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
			from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			next, names := "", []string{}
			for i := from; i < min(60, from+limit); i++ {
				names = append(names, strconv.Itoa(i))
			}
			if from+limit < 60 {
				next = strconv.Itoa(from + limit)
			}
			return headsOf(next, strings.Repeat("x", 10<<10), names...)
		})
		seen := map[string]bool{}
		err := content.Pages(t.Context(), api.PodsResource, "ns", func(page []*api.PartialObjectMetadata) error {
			for _, item := range page {
				assert.False(t, seen[item.Name], "each object is read once")
				seen[item.Name] = true
			}
			return nil
		})
		if _, tooLarge := errors.AsType[*restclient.TooLargeError](err); tooLarge && maxBytes == 5<<10 {
			assert.Equal(t, first, limits)
			continue
		}
		require.NoError(t, err, "a namespace with large annotations must not stay for ever")
		assert.Len(t, seen, 60)
		assert.Equal(t, first, limits[:len(first)], "after a page that is too large smaller ones are requested")
	}
}

// An answer that is cut into pages shows only a part of what there is.
func TestOnlyAWholeAnswerIsComplete(t *testing.T) {
	for next, whole := range map[string]bool{"": true, "more": false} {
		content := contentOf(t, 0, func(*http.Request) any { return headsOf(next, "", "a") })
		found, listed, err := content.DeleteCollection(t.Context(), api.PodsResource, "ns")
		require.NoError(t, err)
		assert.Len(t, found, 1)
		assert.Equal(t, whole, listed, "the answer to a deletion, continued with %q", next)
		namespaces, complete, err := content.Holders(t.Context(), api.PodsResource)
		require.NoError(t, err)
		assert.Equal(t, map[string]bool{"ns": true}, namespaces)
		assert.Equal(t, whole, complete, "a list of all namespaces, continued with %q", next)
	}
}
