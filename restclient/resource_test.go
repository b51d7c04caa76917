package restclient_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

var deployments = api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

const (
	partial     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	partialList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	plain       = "application/json"
)

// sent is a request as the server saw it.
type sent struct {
	method, path, query, accept, contentType, body string
}

// TestVerbs checks the request of each verb.
func TestVerbs(t *testing.T) {
	grace, uid := int64(0), "u1"
	type resource = restclient.Resource[*api.Unstructured]
	object := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "web", "namespace": "shop"}}}
	const body = `{"metadata":{"name":"web","namespace":"shop"}}`
	const path = "/apis/apps/v1/namespaces/shop/deployments"
	for _, c := range []struct {
		name string
		call func(t *testing.T, r *resource) error
		want sent
	}{
		{"get", func(t *testing.T, r *resource) error {
			return errorOf(r.Get(t.Context(), "web", api.GetOptions{ResourceVersion: "0"}))
		}, sent{"GET", path + "/web", "resourceVersion=0", plain, "", ""}},
		{"list", func(t *testing.T, r *resource) error {
			return errorOf(r.List(t.Context(), api.ListOptions{
				LabelSelector: "a=b,c!=d", FieldSelector: "metadata.name=x", Limit: 500, Continue: "tok",
				ResourceVersion: "7", ResourceVersionMatch: api.MatchExact,
			}))
		},
			sent{"GET", path,
				"continue=tok&fieldSelector=metadata.name%3Dx&labelSelector=a%3Db%2Cc%21%3Dd&limit=500&resourceVersion=7&resourceVersionMatch=Exact", plain, "", ""}},
		{"watch", func(t *testing.T, r *resource) error {
			w, err := r.Watch(t.Context(), api.ListOptions{ResourceVersion: "7", TimeoutSeconds: 300,
				AllowWatchBookmarks: true, SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan})
			require.NoError(t, err)
			w.Stop()
			return nil
		},
			sent{"GET", path,
				"allowWatchBookmarks=true&resourceVersion=7&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300&watch=true", plain, "", ""}},
		{"create", func(t *testing.T, r *resource) error {
			return errorOf(r.Create(t.Context(), object, api.UpdateOptions{FieldManager: "me", DryRun: true}))
		}, sent{"POST", path, "dryRun=All&fieldManager=me", plain, plain, body}},
		{"create in the namespace of the object", func(t *testing.T, r *resource) error {
			return errorOf(r.InNamespace("").Create(t.Context(), object, api.UpdateOptions{}))
		}, sent{"POST", path, "", plain, plain, body}},
		{"update", func(t *testing.T, r *resource) error {
			return errorOf(r.Update(t.Context(), object, api.UpdateOptions{}))
		}, sent{"PUT", path + "/web", "", plain, plain, body}},
		{"update of an object of all namespaces", func(t *testing.T, r *resource) error {
			return errorOf(r.InNamespace("").Update(t.Context(), object, api.UpdateOptions{}))
		}, sent{"PUT", path + "/web", "", plain, plain, body}},
		{"update status", func(t *testing.T, r *resource) error {
			return errorOf(r.UpdateStatus(t.Context(), object, api.UpdateOptions{}))
		}, sent{"PUT", path + "/web/status", "", plain, plain, body}},
		{"update subresource", func(t *testing.T, r *resource) error {
			return errorOf(r.UpdateSubresource(t.Context(), "web", "scale", object, api.UpdateOptions{}))
		}, sent{"PUT", path + "/web/scale", "", plain, plain, body}},
		{"patch", func(t *testing.T, r *resource) error {
			patch := []byte(`{"spec":null}`)
			return errorOf(r.Patch(t.Context(), "web", api.MergePatchType, patch, api.UpdateOptions{}))
		}, sent{"PATCH", path + "/web", "", plain, "application/merge-patch+json", `{"spec":null}`}},
		{"patch subresource", func(t *testing.T, r *resource) error {
			return errorOf(r.Patch(t.Context(), "web", api.JSONPatchType, []byte(`[]`), api.UpdateOptions{}, "status"))
		}, sent{"PATCH", path + "/web/status", "", plain, "application/json-patch+json", `[]`}},
		{"delete", func(t *testing.T, r *resource) error {
			return r.Delete(t.Context(), "web", api.DeleteOptions{GracePeriodSeconds: &grace,
				Preconditions: &api.Preconditions{UID: &uid}})
		}, sent{"DELETE", path + "/web", "", plain, plain,
			`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u1"}}`}},
		{"delete collection", func(t *testing.T, r *resource) error {
			_, _, err := r.DeleteCollection(t.Context(),
				api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground, DryRun: true},
				api.ListOptions{LabelSelector: "a=b"})
			return err
		}, sent{"DELETE", path, "labelSelector=a%3Db", plain, plain,
			`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","dryRun":["All"]}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got sent
			handler := func(w http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				got = sent{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("Accept"),
					r.Header.Get("Content-Type"), string(data)}
				io.WriteString(w, `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{},"items":[]}`)
			}
			bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
				r := restclient.Dynamic(server.Client(), deployments, "shop")
				require.NoError(t, c.call(t, r))
				assert.Equal(t, c.want, got)
				assert.Len(t, server.Requests(), 1)
			})
		})
	}
}

func TestPaths(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, r *http.Request) { answer(w, 200, namespace("x", "1")) },
		func(t *testing.T, server *restclienttest.Server) {
			client := server.Client()
			for _, c := range []struct {
				gvr             api.GroupVersionResource
				namespace, name string
				want            string
			}{
				{api.NamespacesResource, "", "default", "/api/v1/namespaces/default"},
				{api.PodsResource, "default", "web-0", "/api/v1/namespaces/default/pods/web-0"},
				{deployments, "", "web", "/apis/apps/v1/deployments/web"},
				{api.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1",
					Resource: "clusterroles"}, "",
					"system:node", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"},
				{api.PodsResource, "a b", "ü?#", "/api/v1/namespaces/a%20b/pods/%C3%BC%3F%23"},
			} {
				r := restclient.Metadata(client, c.gvr, c.namespace)
				assert.Equal(t, c.gvr, r.GroupVersionResource())
				_, err := r.Get(t.Context(), c.name, api.GetOptions{})
				require.NoError(t, err)
				requests := server.Requests()
				assert.Equal(t, c.want, requests[len(requests)-1].Path)
			}
		})
}

// A name that is not one path segment would address something else: deleting the pod "" would
// delete all pods, and the pod ".." the namespace. The names of types come from discovery, which is
// a server's answer.
func TestNamesThatWouldAddressSomethingElse(t *testing.T) {
	bubble(t, ok, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client()
		at := func(group, version, resource string) *restclient.Resource[*api.Namespace] {
			gvr := api.GroupVersionResource{Group: group, Version: version, Resource: resource}
			return restclient.Typed[*api.Namespace](client, gvr, "doomed")
		}
		for _, bad := range []string{"", ".", "..", "a/b", "../../v1/secrets", "a%2fb", "a\x00b", "a\nb", "a\x7fb",
			"a\u0085b", "\xff"} {
			good := at("evil.io", "v1", "widgets")
			_, errPatch := good.Patch(t.Context(), "fine", api.MergePatchType, nil, api.UpdateOptions{}, bad)
			wrong := map[string]map[string]error{
				"name": named(t, good, bad), "subresource": {"patch": errPatch},
				"version": calls(t, at("evil.io", bad, "widgets")), "resource": calls(t, at("evil.io", "v1", bad)),
			}
			if bad != "" { // the core group, and all namespaces
				wrong["group"], wrong["namespace"] = calls(t, at(bad, "v1", "widgets")), calls(t, good.InNamespace(bad))
			}
			for what, errs := range wrong {
				for verb, err := range errs {
					var found *restclient.NameError
					require.ErrorAs(t, err, &found, "%s with the %s %q", verb, what, bad)
					assert.Equal(t, restclient.NameError{What: what, Name: bad, Problem: found.Problem}, *found, verb)
					if bad == "" {
						assert.Contains(t, err.Error(), `the `+what+` "" is empty`, verb)
					}
				}
			}
		}
		assert.Empty(t, server.Requests(), "nothing is sent")
	})
}

func TestMetadataAsksForHeadsOnly(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("watch") != "":
			restclienttest.ServeWatch(w, r, func(s *restclienttest.Stream) {})
		case r.URL.Path == "/api/v1/pods":
			io.WriteString(w, `{"kind":"PodList","items":[]}`)
		default: // a server that does not know the form answers with the whole object
			io.WriteString(w,
				`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"containers":[{}]}}`)
		}
	}
	eachCodec(t, handler, func(t *testing.T, client *restclient.Client, server *restclienttest.Server) {
		pods := podsOf(client)
		require.NoError(t, errorOf(pods.List(t.Context(), api.ListOptions{})))
		whole, err := pods.InNamespace("x").Get(t.Context(), "a", api.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, "Pod", whole.Kind)
		assert.Equal(t, map[string]string{"x": "y"}, whole.Labels)

		w, err := pods.Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		w.Stop()
		_, err = pods.InNamespace("x").Patch(t.Context(), "a", api.MergePatchType, []byte("{}"), api.UpdateOptions{})
		require.NoError(t, err)
		_, _, err = pods.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
		require.NoError(t, err)

		var accepts []string
		for _, r := range server.Requests() {
			accepts = append(accepts, r.Header.Get("Accept"))
		}
		assert.Equal(t, []string{partialList, partial, partial, partial, partialList}, accepts)

		_, err = pods.InNamespace("x").Update(t.Context(), whole, api.UpdateOptions{})
		assert.ErrorIs(t, err, restclient.ErrReadOnly)
		_, err = pods.InNamespace("x").Create(t.Context(), whole, api.UpdateOptions{})
		assert.ErrorIs(t, err, restclient.ErrReadOnly)
		assert.Len(t, server.Requests(), 5)
	})
}

// The answer to a delete of a collection saves the namespace controller its verifying list. An
// aggregated API that answers with 200 and an empty body has accepted it; this differs from a
// broken connection: the request need not be repeated.
func TestDeleteCollectionReturnsTheObjects(t *testing.T) {
	for _, c := range []struct {
		name, body string
		items      int // -1: no list
		want       func(error) bool
		text       string
	}{
		{"nothing", `{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]}`, 0, success, ""},
		{"null", `{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":null}`, 0, success, ""},
		{"left out", `{"kind":"PodList","metadata":{"resourceVersion":"9"}}`, 0, success, ""},
		{"two", `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"PodList"}`, 2, success, ""},
		{"a bare status", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`, -1, success, ""},
		{"a bare status that says failure", `{"kind":"Status","status":"Failure","reason":"Conflict","code":409}`, -1,
			api.IsConflict, "409"},
		{"an empty body", "", -1, decodeErr, "the body is empty"},
		{"a line end", " \n", -1, decodeErr, "the body is empty"},
		{"a body that breaks off", "{", -1, ofKind(restclient.ConnectionLost), "broke off"},
	} {
		bubble(t, says(c.body), func(t *testing.T, server *restclienttest.Server) {
			found, listed, err := podsOf(server.Client()).
				DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
			assert.True(t, c.want(err), "%s: %v", c.name, err)
			if err != nil {
				assert.ErrorContains(t, err, c.text)
			}
			assert.Equal(t, c.items >= 0, listed, c.name)
			if listed {
				assert.Len(t, found.Items, c.items)
			} else {
				assert.Nil(t, found)
			}
		})
	}
}

func TestWarningsReachTheHandler(t *testing.T) {
	bubble(t, code(404, "Warning", `299 - "v1beta1 is deprecated"`), func(t *testing.T, server *restclienttest.Server) {
		var traced []restclient.Warning
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Trace = &restclient.Trace{Warning: func(w restclient.Warning) { traced = append(traced, w) }}
		})
		require.Error(t, client.Do(restclient.WithOrigin(t.Context(), "pass-1"), get("/fails"), nil))
		assert.Equal(t, []restclient.Warning{
			{Code: 299, Agent: "-", Text: "v1beta1 is deprecated", Origin: "pass-1"},
		}, traced)
	})
}
