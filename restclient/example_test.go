package restclient_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"orrery/restclient"
	"orrery/restclient/api"
)

// apiServer is an API server with one namespace, just enough for the examples.
func apiServer() *httptest.Server {
	const head = `"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","resourceVersion":"40"}`
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "true" {
			io.WriteString(w, `{"type":"MODIFIED","object":{`+head+`,"status":{"phase":"Terminating"}}}`+"\n")
			io.WriteString(w, `{"type":"DELETED","object":{`+head+`,"status":{"phase":"Terminating"}}}`+"\n")
			return
		}
		io.WriteString(w, `{"kind":"NamespaceList","metadata":{"resourceVersion":"42"},"items":[{`+head+`}]}`)
	}))
}

// List the objects, then watch the changes from that state on.
func Example() {
	server := apiServer()
	defer server.Close()
	client, err := restclient.New(restclient.Config{Host: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	ctx := context.Background()
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	list, err := namespaces.List(ctx, api.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ns := range list.Items {
		fmt.Println("there is", ns.Name)
	}

	watch, err := namespaces.Watch(ctx, api.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer watch.Stop()
	for {
		event, err := watch.Next()
		if err == io.EOF {
			fmt.Println("the server ended the watch")
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Type, event.Object.Name, event.Object.Status.Phase)
	}
	// Output:
	// there is default
	// MODIFIED default Terminating
	// DELETED default Terminating
	// the server ended the watch
}
