package restclient_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

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
			_, err := r.Get(t.Context(), "web", api.GetOptions{ResourceVersion: "0"})
			return err
		}, sent{"GET", path + "/web", "resourceVersion=0", plain, "", ""}},
		{"list", func(t *testing.T, r *resource) error {
			_, err := r.List(t.Context(), api.ListOptions{LabelSelector: "a=b,c!=d", FieldSelector: "metadata.name=x", Limit: 500, Continue: "tok", ResourceVersion: "7", ResourceVersionMatch: api.MatchExact})
			return err
		}, sent{"GET", path, "continue=tok&fieldSelector=metadata.name%3Dx&labelSelector=a%3Db%2Cc%21%3Dd&limit=500&resourceVersion=7&resourceVersionMatch=Exact", plain, "", ""}},
		{"watch", func(t *testing.T, r *resource) error {
			w, err := r.Watch(t.Context(), api.ListOptions{ResourceVersion: "7", TimeoutSeconds: 300, AllowWatchBookmarks: true, SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan})
			w.Stop()
			return err
		}, sent{"GET", path, "allowWatchBookmarks=true&resourceVersion=7&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300&watch=true", plain, "", ""}},
		{"create", func(t *testing.T, r *resource) error {
			_, err := r.Create(t.Context(), object, api.UpdateOptions{FieldManager: "me", DryRun: true})
			return err
		}, sent{"POST", path, "dryRun=All&fieldManager=me", plain, plain, body}},
		{"create in the namespace of the object", func(t *testing.T, r *resource) error {
			_, err := r.InNamespace("").Create(t.Context(), object, api.UpdateOptions{})
			return err
		}, sent{"POST", path, "", plain, plain, body}},
		{"update", func(t *testing.T, r *resource) error {
			_, err := r.Update(t.Context(), object, api.UpdateOptions{})
			return err
		}, sent{"PUT", path + "/web", "", plain, plain, body}},
		{"update of an object of all namespaces", func(t *testing.T, r *resource) error {
			_, err := r.InNamespace("").Update(t.Context(), object, api.UpdateOptions{})
			return err
		}, sent{"PUT", path + "/web", "", plain, plain, body}},
		{"update status", func(t *testing.T, r *resource) error {
			_, err := r.UpdateStatus(t.Context(), object, api.UpdateOptions{})
			return err
		}, sent{"PUT", path + "/web/status", "", plain, plain, body}},
		{"update subresource", func(t *testing.T, r *resource) error {
			_, err := r.UpdateSubresource(t.Context(), "web", "scale", object, api.UpdateOptions{})
			return err
		}, sent{"PUT", path + "/web/scale", "", plain, plain, body}},
		{"patch", func(t *testing.T, r *resource) error {
			_, err := r.Patch(t.Context(), "web", api.MergePatchType, []byte(`{"spec":null}`), api.UpdateOptions{Force: true})
			return err
		}, sent{"PATCH", path + "/web", "force=true", plain, "application/merge-patch+json", `{"spec":null}`}},
		{"patch subresource", func(t *testing.T, r *resource) error {
			_, err := r.Patch(t.Context(), "web", api.JSONPatchType, []byte(`[]`), api.UpdateOptions{}, "status")
			return err
		}, sent{"PATCH", path + "/web/status", "", plain, "application/json-patch+json", `[]`}},
		{"delete", func(t *testing.T, r *resource) error {
			return r.Delete(t.Context(), "web", api.DeleteOptions{GracePeriodSeconds: &grace, Preconditions: &api.Preconditions{UID: &uid}})
		}, sent{"DELETE", path + "/web", "", plain, plain, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u1"}}`}},
		{"delete collection", func(t *testing.T, r *resource) error {
			_, _, err := r.DeleteCollection(t.Context(), api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground, DryRun: true}, api.ListOptions{LabelSelector: "a=b"})
			return err
		}, sent{"DELETE", path, "labelSelector=a%3Db", plain, plain, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","dryRun":["All"]}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got sent
			handler := func(w http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				got = sent{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("Accept"), r.Header.Get("Content-Type"), string(data)}
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
	bubble(t, func(w http.ResponseWriter, r *http.Request) { answer(w, 200, namespace("x", "1")) }, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client()
		for _, c := range []struct {
			gvr             api.GroupVersionResource
			namespace, name string
			want            string
		}{
			{api.NamespacesResource, "", "default", "/api/v1/namespaces/default"},
			{api.PodsResource, "default", "web-0", "/api/v1/namespaces/default/pods/web-0"},
			{deployments, "", "web", "/apis/apps/v1/deployments/web"},
			{api.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}, "", "system:node", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"},
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
// delete all pods, and the pod ".." the namespace.
func TestNamesThatWouldAddressSomethingElse(t *testing.T) {
	bubble(t, ok, func(t *testing.T, server *restclienttest.Server) {
		pods := restclient.Typed[*api.Pod](server.Client(), api.PodsResource, "default")
		for _, name := range []string{"", ".", "..", "a/b", "../../x", "a%2fb"} {
			pod := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name}}
			_, errGet := pods.Get(t.Context(), name, api.GetOptions{})
			_, errUpdate := pods.Update(t.Context(), pod, api.UpdateOptions{})
			_, errStatus := pods.UpdateStatus(t.Context(), pod, api.UpdateOptions{})
			_, errPatch := pods.Patch(t.Context(), name, api.MergePatchType, nil, api.UpdateOptions{})
			errDelete := pods.Delete(t.Context(), name, api.DeleteOptions{})
			errs := []error{errGet, errUpdate, errStatus, errPatch, errDelete}
			if name != "" {
				elsewhere := pods.InNamespace(name)
				_, errList := elsewhere.List(t.Context(), api.ListOptions{})
				_, errWatch := elsewhere.Watch(t.Context(), api.ListOptions{})
				_, errCreate := elsewhere.Create(t.Context(), &api.Pod{}, api.UpdateOptions{})
				_, _, errCollection := elsewhere.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
				_, errSub := pods.Patch(t.Context(), "fine", api.MergePatchType, nil, api.UpdateOptions{}, name)
				errs = append(errs, errList, errWatch, errCreate, errCollection, errSub)
			}
			for i, err := range errs {
				var wrong *restclient.NameError
				require.ErrorAs(t, err, &wrong, "%q, call %d", name, i)
				assert.Equal(t, name, wrong.Name)
			}
		}
		_, err := pods.Patch(t.Context(), "fine", api.MergePatchType, nil, api.UpdateOptions{}, "")
		assert.EqualError(t, err, `the subresource "" is empty`)
		assert.Empty(t, server.Requests())
	})
}

// Discovery is a server's answer: the parts of a type's name must not address something else
// either.
func TestTypesThatWouldAddressSomethingElse(t *testing.T) {
	bubble(t, ok, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client()
		for _, part := range []string{".", "..", "a/b", "../../v1/secrets", "a%2fb", "a\x00b", "a\nb", "a\x7fb",
			"a\u0085b", "\xff"} {
			for what, gvr := range map[string]api.GroupVersionResource{
				"group":    {Group: part, Version: "v1", Resource: "widgets"},
				"version":  {Group: "evil.io", Version: part, Resource: "widgets"},
				"resource": {Group: "evil.io", Version: "v1", Resource: part},
			} {
				_, errList := restclient.Metadata(client, gvr, "doomed").List(t.Context(), api.ListOptions{})
				_, errWatch := restclient.Dynamic(client, gvr, "").Watch(t.Context(), api.ListOptions{})
				_, _, errCollection := restclient.Dynamic(client, gvr, "doomed").DeleteCollection(t.Context(),
					api.DeleteOptions{}, api.ListOptions{})
				errDelete := restclient.Typed[*api.Pod](client, gvr, "doomed").Delete(t.Context(), "x",
					api.DeleteOptions{})
				for _, err := range []error{errList, errWatch, errCollection, errDelete} {
					var wrong *restclient.NameError
					require.ErrorAs(t, err, &wrong, "the %s %q", what, part)
					assert.Equal(t, restclient.NameError{What: what, Name: part, Problem: wrong.Problem}, *wrong)
				}
			}
			pods := restclient.Dynamic(client, api.PodsResource, "doomed")
			_, err := pods.Patch(t.Context(), "x", api.MergePatchType, nil, api.UpdateOptions{}, part)
			assert.ErrorContains(t, err, "the subresource", "%q", part)
			assert.ErrorContains(t, pods.Delete(t.Context(), part, api.DeleteOptions{}), "the name", "%q", part)
		}
		for what, gvr := range map[string]api.GroupVersionResource{"version": {Resource: "pods"},
			"resource": {Version: "v1"}} {
			_, err := restclient.Dynamic(client, gvr, "").List(t.Context(), api.ListOptions{})
			assert.EqualError(t, err, `the `+what+` "" is empty`)
		}
		assert.Empty(t, server.Requests(), "nothing is sent")
	})
}

func TestTypedObjects(t *testing.T) {
	stored := namespace("shop", "12")
	stored.UID = "u1"
	stored.ManagedFields = api.NewManagedFields([]byte(`[{"manager":"kubectl"}]`))
	stored.Spec.Finalizers = []string{"kubernetes"}
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PUT" {
			io.Copy(w, r.Body)
			return
		}
		answer(w, 200, stored)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		namespaces := restclient.Typed[*api.Namespace](server.Client(), api.NamespacesResource, "")
		got, err := namespaces.Get(t.Context(), "shop", api.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, stored, got)
		got.Status.Phase = api.NamespaceTerminating
		back, err := namespaces.UpdateStatus(t.Context(), got, api.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, got, back)
	})
}

func TestMetadataAsksForHeadsOnly(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("watch") != "":
			restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(s *restclienttest.Stream) {})
		case r.URL.Path == "/api/v1/pods":
			io.WriteString(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"items":[
				{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"3"}}]}`)
		default: // a server that does not know the form answers with the whole object
			io.WriteString(w, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"containers":[{}]}}`)
		}
	}
	eachCodec(t, handler, func(t *testing.T, client *restclient.Client, server *restclienttest.Server) {
		pods := restclient.Metadata(client, api.PodsResource, "")
		found, err := pods.List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, "5", found.ResourceVersion)
		require.Len(t, found.Items, 1)
		assert.Equal(t, "a", found.Items[0].Name)

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

// The answer to a delete of a collection saves the namespace controller its verifying list.
func TestDeleteCollectionReturnsTheObjects(t *testing.T) {
	for _, c := range []struct {
		name, body string
		listed     bool
		items      int
		fails      bool
	}{
		{"nothing", `{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"9"},"items":[]}`, true, 0, false},
		{"null", `{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":null}`, true, 0, false},
		{"left out", `{"kind":"PodList","metadata":{"resourceVersion":"9"}}`, true, 0, false},
		{"two", `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"PodList"}`, true, 2, false},
		{"a bare status", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`, false, 0, false},
		{"a bare status that says failure", `{"kind":"Status","status":"Failure","reason":"Conflict","message":"no","code":409}`, false, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, c.body) }, func(t *testing.T, server *restclienttest.Server) {
				found, listed, err := restclient.Metadata(server.Client(), api.PodsResource, "a").
					DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
				assert.Equal(t, c.fails, err != nil)
				assert.Equal(t, c.fails, api.IsConflict(err))
				assert.Equal(t, c.listed, listed)
				if c.listed {
					assert.Len(t, found.Items, c.items)
				} else {
					assert.Nil(t, found)
				}
			})
		})
	}
}

// Items of built-in types have no kind in a list; the client sets it.
func TestDynamicItemsLearnTheirKind(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"items":[{"metadata":{"name":"a"}},{"kind":"Other","apiVersion":"x/v1","metadata":{"name":"b"}}],"kind":"DeploymentList","apiVersion":"apps/v1"}`)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		list, err := restclient.Dynamic(server.Client(), deployments, "").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, "Deployment", list.Items[0].GetKind())
		assert.Equal(t, "apps/v1", list.Items[0].GetAPIVersion())
		assert.Equal(t, "Other", list.Items[1].GetKind())
	})
}

func TestListPages(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		list := api.List[*api.Namespace]{TypeMeta: api.TypeMeta{Kind: "NamespaceList", APIVersion: "v1"}}
		list.ResourceVersion = "10"
		if r.URL.Query().Get("continue") == "" {
			list.Continue, list.Items = "more", []*api.Namespace{namespace("a", "1")}
		} else {
			list.Items = []*api.Namespace{namespace("b", "2")}
		}
		answer(w, 200, list)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		namespaces := restclient.Typed[*api.Namespace](server.Client(), api.NamespacesResource, "")
		first, err := namespaces.List(t.Context(), api.ListOptions{Limit: 1})
		require.NoError(t, err)
		assert.Equal(t, "more", first.Continue)
		second, err := namespaces.List(t.Context(), api.ListOptions{Limit: 1, Continue: first.Continue})
		require.NoError(t, err)
		assert.Equal(t, "b", second.Items[0].Name)
		assert.Empty(t, second.Continue)
	})
}

// A connection that breaks in the middle of a list costs a retry and never yields half a list.
func TestAListThatBreaksOffIsReadAgain(t *testing.T) {
	whole := `{"kind":"NamespaceList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`
	bubble(t, script(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, whole[:90])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, whole) }), func(t *testing.T, server *restclienttest.Server) {
		list, err := restclient.Typed[*api.Namespace](server.Client(), api.NamespacesResource, "").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, 2)
	})
}

func TestBodiesAreAlwaysClosed(t *testing.T) {
	namespaceList := `{"kind":"NamespaceList","metadata":{},"items":[{"metadata":{"name":"a"}}]}`
	handlers := map[string]http.HandlerFunc{
		"list":       func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, namespaceList) },
		"object":     func(w http.ResponseWriter, r *http.Request) { answer(w, 200, namespace("a", "1")) },
		"status":     func(w http.ResponseWriter, r *http.Request) { answer(w, 404, refusal(404, api.ReasonNotFound, "no")) },
		"text":       code(500),
		"wrong":      func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"a`) },
		"no JSON":    func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `<html>`) },
		"broken":     brokenBody,
		"hang up":    hangUp,
		"retried":    code(429, "Retry-After", "1"),
		"redirected": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
	}
	for name, handler := range handlers {
		t.Run(name, func(t *testing.T) {
			bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
				count := &bodies{}
				client := server.Client(func(cfg *restclient.Config) {
					cfg.WrapTransport = count.wrap
					cfg.MaxBodyBytes = 1 << 10
				})
				r := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
				client.Do(t.Context(), get("/"), nil)
				client.Do(t.Context(), get("/"), new([]byte))
				r.Get(t.Context(), "a", api.GetOptions{})
				r.List(t.Context(), api.ListOptions{})
				r.Update(t.Context(), namespace("a", "1"), api.UpdateOptions{})
				r.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
				for range 2 { // once stopped, once read to its end
					if w, err := r.Watch(t.Context(), api.ListOptions{}); err == nil {
						w.Stop()
						w.Stop()
					}
					if w, err := r.Watch(t.Context(), api.ListOptions{}); err == nil {
						for err == nil {
							_, err = w.Next()
						}
					}
				}
				opened, closed := count.counts()
				assert.Equal(t, opened, closed)
				if name != "hang up" {
					assert.GreaterOrEqual(t, opened, 8)
				}
				assert.Zero(t, client.Snapshot().InFlight)
				assert.Zero(t, client.Snapshot().Watches)
			})
		})
	}
}

func TestWarningsReachTheHandler(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Warning", `299 - "v1beta1 is deprecated"`)
		if r.URL.Path == "/fails" {
			w.WriteHeader(404)
			return
		}
		ok(w, r)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		var traced []restclient.Warning
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Trace = &restclient.Trace{Warning: func(w restclient.Warning) { traced = append(traced, w) }}
		})
		require.NoError(t, client.Do(t.Context(), get("/"), nil))
		require.Error(t, client.Do(restclient.WithOrigin(t.Context(), "pass-1"), get("/fails"), nil))
		want := restclient.Warning{Code: 299, Agent: "-", Text: "v1beta1 is deprecated"}
		ofPass := want
		ofPass.Origin = "pass-1"
		assert.Equal(t, []restclient.Warning{want, ofPass}, traced)
	})
}

// An aggregated API that answers a collection delete with 200 and an empty body has accepted it.
// This differs from a broken connection: the request need not be repeated.
func TestAnswerWithNothingInIt(t *testing.T) {
	for body, want := range map[string]string{
		"":    "the body is empty",
		" \n": "the body is empty",
		"{":   "broke off",
	} {
		synctest.Test(t, func(t *testing.T) {
			server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, body)
			}))
			pods := restclient.Metadata(server.Client(), api.PodsResource, "ns")
			_, listed, err := pods.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
			assert.ErrorContains(t, err, want)
			assert.False(t, listed)
			var unreadable *restclient.DecodeError
			if want != "broke off" {
				assert.ErrorAs(t, err, &unreadable)
			}
		})
	}
}

// listerWatcher is the reflector's interface, repeated because package reflector is not below
// this package.
type listerWatcher[T any] interface {
	List(ctx context.Context, opts api.ListOptions) (*api.List[T], error)
	Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error)
}

var (
	_ listerWatcher[*api.Namespace]             = (*restclient.Resource[*api.Namespace])(nil)
	_ listerWatcher[*api.PartialObjectMetadata] = (*restclient.Resource[*api.PartialObjectMetadata])(nil)
	_ listerWatcher[*api.Unstructured]          = (*restclient.Resource[*api.Unstructured])(nil)
)
