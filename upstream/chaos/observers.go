package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/kubeconfig"
)

// observers are the run's informers: streaming lists and pages, whole objects and metadata, HTTP
// and websocket.
type observers struct {
	clients []*restclient.Client
	watched []watched
	stop    context.CancelFunc
	ended   sync.WaitGroup
}

// observe starts the informers.
func observe(kubeconfigFile string) (*observers, error) {
	o := &observers{}
	http, err := o.client(kubeconfigFile, restclient.WatchHTTP)
	if err != nil {
		return nil, err
	}
	socket, err := o.client(kubeconfigFile, restclient.WatchWebSocket)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		watch(o, "namespaces", restclient.Typed[*api.Namespace](http, typeOf(namespaces), ""), 0),
		watch(o, "configmaps", restclient.Metadata(http, typeOf(configMaps), ""), 0),
		watch(o, "secrets in pages", restclient.Metadata(http, typeOf(secrets), ""), 7),
		watch(o, "configmaps over websocket", restclient.Dynamic(socket, typeOf(configMaps), ""), 0),
		watch(o, "widgets over websocket", restclient.Dynamic(socket, typeOf(widgets), ""), 0),
	)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	o.stop = stop
	for _, w := range o.watched {
		o.ended.Go(func() { _ = w.run(ctx) })
	}
	return o, nil
}

func typeOf(gvr schema.GroupVersionResource) api.GroupVersionResource {
	return api.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}

func (o *observers) client(file string, transport restclient.WatchTransport) (*restclient.Client, error) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: file})
	if err != nil {
		return nil, fmt.Errorf("informers: %w", err)
	}
	config.WatchTransport = transport
	config.Codec = fast.Codec{}
	client, err := restclient.New(config)
	if err != nil {
		return nil, fmt.Errorf("informers: %w", err)
	}
	o.clients = append(o.clients, client)
	return client, nil
}

// events returns the number of events at all handlers.
func (o *observers) events() (sum int) {
	for _, w := range o.watched {
		sum += w.events()
	}
	return sum
}

// end stops the informers and returns what they leak.
func (o *observers) end() (found []string) {
	o.stop()
	ended := make(chan struct{})
	go func() {
		o.ended.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(longestShutdown):
		stacks := strings.Join(goroutines(), "\n\n")
		return []string{fmt.Sprintf("informers do not end in %v:\n%s", longestShutdown, stacks)}
	}
	for _, c := range o.clients {
		c.Close()
		if shot := c.Snapshot(); shot.Watches != 0 || shot.InFlight != 0 {
			found = append(found, fmt.Sprintf("%d watches and %d requests are still open", shot.Watches, shot.InFlight))
		}
	}
	if awaitZero(func() int { return len(goroutines()) }) > 0 {
		found = append(found, "informers have ended, and goroutines are left:\n"+strings.Join(goroutines(), "\n\n"))
	}
	return found
}

// awaitZero returns the last count, if it does not become zero within seconds: a goroutine needs a
// moment for its last instructions.
func awaitZero(count func() int) (left int) {
	for range 200 {
		if left = count(); left == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

// goroutines returns the stacks of the informers' goroutines.
func goroutines() (found []string) {
	buffer := make([]byte, 8<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	for stack := range strings.SplitSeq(string(buffer), "\n\n") {
		for _, p := range []string{"orrery/informer", "orrery/deltafifo", "orrery/restclient"} {
			if strings.Contains(stack, p) {
				found = append(found, stack)
				break
			}
		}
	}
	return found
}
