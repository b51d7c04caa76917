package leaderelection_test

import (
	"context"
	"fmt"
	"sync"

	"orrery/internal/lab/apiserver"
	"orrery/internal/leaderelection"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Two replicas, of which one works at a time. The first releases the Lease when it has finished,
// and the second takes over.
func Example() {
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Start(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop(context.Background())
	client, err := restclient.New(restclient.Config{Host: server.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	leases := restclient.Typed[*api.Lease](client, api.LeasesResource, "kube-system")

	run := func(identity string, work func(context.Context, leaderelection.Term)) {
		elector, err := leaderelection.New(leaderelection.Config{
			Leases: leases, Watch: leases, Namespace: "kube-system", Name: "example", Identity: identity,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := elector.Run(context.Background(), work); err != nil {
			fmt.Println(err) // the lease was lost: end the program
		}
	}

	var second sync.WaitGroup
	run("first", func(ctx context.Context, term leaderelection.Term) {
		second.Go(func() {
			run("second", func(ctx context.Context, term leaderelection.Term) {
				fmt.Println(term.Identity, "works")
			})
		})
		fmt.Println(term.Identity, "works") // ends with ctx
	})
	second.Wait()

	// Output:
	// first works
	// second works
}
