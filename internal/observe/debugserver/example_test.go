package debugserver_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"orrery/internal/observe/debugserver"
)

func Example() {
	server, err := debugserver.Start(debugserver.Config{Address: "127.0.0.1:0"})
	if err != nil {
		panic(err)
	}
	defer server.Stop()
	server.Ready("informer-sync", func() error { return errors.New("not yet") })
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + server.Addr() + "/readyz")
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	fmt.Print(string(text))
	// Output:
	// [+]ping ok
	// [-]informer-sync failed: not yet
	// readyz check failed
}
