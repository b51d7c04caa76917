package apiserver_test

import (
	"context"
	"fmt"

	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
)

// A server, and this project's client for it.
func Example() {
	server, err := apiserver.New(apiserver.Config{Unprotected: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop(context.Background())
	if err := server.Start(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	client, err := restclient.New(restclient.Config{Host: server.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	namespaces, err := restclient.Metadata(client, api.NamespacesResource, "").List(context.Background(), api.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, namespace := range namespaces.Items {
		fmt.Println(namespace.Name)
	}
	fmt.Println("lists answered:", server.Snapshot().Requests["list"][200])
	// Output:
	// default
	// kube-node-lease
	// kube-public
	// kube-system
	// lists answered: 1
}
