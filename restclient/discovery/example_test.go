package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"orrery/restclient"
	"orrery/restclient/discovery"
)

// The types that can be deleted from namespaces, on a server one of whose groups does not answer.
func ExampleClient_ServerPreferredNamespacedResources() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		documents := map[string]string{
			"/api": `{"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [
				{"resource": "pods", "scope": "Namespaced", "responseKind": {"group": "", "version": "v1", "kind": "Pod"}},
				{"resource": "nodes", "scope": "Cluster", "responseKind": {"group": "", "version": "v1", "kind": "Node"}}]}]}`,
			"/apis": `{"metadata": {"name": "metrics.example"}, "versions": [{"version": "v1", "freshness": "Stale"}]}`,
		}
		fmt.Fprintf(w, `{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [%s]}`, documents[r.URL.Path])
	}))
	defer server.Close()
	client, err := restclient.New(restclient.Config{Host: server.URL})
	if err != nil {
		panic(err)
	}
	defer client.Close()

	lists, err := discovery.New(client).ServerPreferredNamespacedResources(context.Background())
	for _, list := range lists {
		for _, resource := range list.Resources {
			fmt.Println(list.GroupVersion, resource.Name, resource.Kind)
		}
	}
	var failed *discovery.ErrGroupDiscoveryFailed
	fmt.Println(errors.As(err, &failed), err)
	// Output:
	// v1 pods Pod
	// true unable to retrieve the complete list of server APIs: metrics.example/v1: stale GroupVersion discovery: metrics.example/v1
}
