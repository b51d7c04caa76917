package informer_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
)

// oneNamespace is an API server with one namespace that never changes.
func oneNamespace(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case query.Get("sendInitialEvents") == "true":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case query.Get("watch") == "true":
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		_, _ = io.WriteString(w,
			`{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"42"},"items":[{
			"kind":"Namespace","apiVersion":"v1",
			"metadata":{"name":"shop","resourceVersion":"40","labels":{"team":"red"}},
			"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}]}`)
	}
}

// One collection, three kinds of informers: of typed objects, of metadata, and of unstructured
// documents of a type that the program need not know.
func ExampleNewSharedIndexInformer() {
	server := httptest.NewServer(http.HandlerFunc(oneNamespace))
	defer server.Close()
	client, err := restclient.New(restclient.Config{Host: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	gvr := api.NamespacesResource

	typed := informer.NewSharedIndexInformer(restclient.Typed[*api.Namespace](client, gvr, ""),
		informer.Config[*api.Namespace]{})
	heads := informer.NewSharedIndexInformer(restclient.Metadata(client, gvr, ""),
		informer.Config[*api.PartialObjectMetadata]{})
	dynamic := informer.NewSharedIndexInformer(restclient.Dynamic(client, gvr, ""),
		informer.Config[*api.Unstructured]{})
	defer run(typed)()
	defer run(heads)()
	defer run(dynamic)()

	ns, _ := typed.GetIndexer().GetByKey("shop")
	fmt.Println("typed:   ", ns.Status.Phase)
	head, _ := heads.GetIndexer().GetByKey("shop")
	fmt.Println("metadata:", head.Labels["team"])
	document, _ := dynamic.GetIndexer().GetByKey("shop")
	fmt.Println("dynamic: ", document.NestedString("status", "phase"))
	// Output:
	// typed:    Active
	// metadata: red
	// dynamic:  Active
}
