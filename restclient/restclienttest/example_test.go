package restclienttest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// ServeWatch also works behind a real socket. The same handler serves both transports.
func ExampleServeWatch() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(s *restclienttest.Stream) {
			s.Send(api.WatchAdded, api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: "web", ResourceVersion: "7"}})
		})
	}))
	defer server.Close()

	for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
		client, err := restclient.New(restclient.Config{Host: server.URL, WatchTransport: transport})
		if err != nil {
			fmt.Println(err)
			return
		}
		watch, err := restclient.Metadata(client, api.PodsResource, "").Watch(context.Background(), api.ListOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for {
			event, err := watch.Next()
			if err != nil {
				fmt.Println(transport, err)
				break
			}
			fmt.Println(transport, event.Type, event.Object.Name, event.ResourceVersion)
		}
		client.Close()
	}
	// Output:
	// http ADDED web 7
	// http EOF
	// websocket ADDED web 7
	// websocket EOF
}
