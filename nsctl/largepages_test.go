package nsctl_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

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
	err = nsctl.NewContentClient(client).Pages(t.Context(), api.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ns",
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
