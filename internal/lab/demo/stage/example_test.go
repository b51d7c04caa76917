package stage_test

import (
	"context"
	"fmt"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
	"orrery/restclient/credentials"
)

// A server, a stage on it, and a namespace full of objects. Informers drive the bars.
func Example() {
	ctx := context.Background()
	server, err := apiserver.New(apiserver.Config{TLS: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop(ctx)
	if err := server.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	credential, _ := credentials.NewToken(server.Token())
	teller := story.New("example", "A namespace is filled.", "Look at the bars.")
	on, err := stage.Open(ctx, stage.Config{
		Teller: teller, Faults: server.Faults(), Objects: 50,
		Server: restclient.Config{Host: server.URL(), TLS: restclient.TLS{CAData: server.CertificateAuthority()}},
		Credentials: map[story.Client]restclient.Credentials{
			story.Controller: credential, story.Spectators: credential, story.Script: credential,
		},
	}, stage.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer on.Close()
	if err := on.Fill(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for _, kind := range teller.State().Types[:3] {
		fmt.Println(kind.Name, kind.Left)
	}
	// Output:
	// pods 4
	// configmaps 12
	// secrets 7
}
