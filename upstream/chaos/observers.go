package chaos

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/chaos/history"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/kubeconfig"
)

// observers are the run's informers: with every way to list and watch (streams or pages, fast or textbook
// decoder, HTTP or websocket) and every delivery.
type observers struct {
	clients []*restclient.Client
	watched []watched
	stop    context.CancelFunc
	ended   sync.WaitGroup
	joined  int
	// connections is the number of open ones.
	connections atomic.Int64
}

// deliveries are the handlers' deliveries, in turn.
var deliveries = []informer.HandlerOptions{
	{},
	{Coalescing: true},
}

// observe starts the informers, over HTTP through one door and over websocket through another. The
// server may be away.
func observe(overHTTP, overSocket *door) (*observers, error) {
	o := &observers{}
	heads, err := o.client(overHTTP, restclient.WatchHTTP, fast.Codec{})
	if err != nil {
		return nil, err
	}
	text, err := o.client(overHTTP, restclient.WatchHTTP, restclient.PlainCodec())
	if err != nil {
		return nil, err
	}
	socket, err := o.client(overSocket, restclient.WatchWebSocket, fast.Codec{})
	if err != nil {
		return nil, err
	}
	const minute = time.Minute
	o.watched = []watched{
		watch("namespaces", restclient.Typed[*api.Namespace](text, api.NamespacesResource, ""), informer.Config[*api.Namespace]{ResyncPeriod: 20 * time.Second}),
		watch("namespaces over websocket", restclient.Metadata(socket, api.NamespacesResource, ""), informer.Config[*api.PartialObjectMetadata]{}),
		watch("configmaps", restclient.Metadata(heads, resourceOf("configmaps"), ""), informer.Config[*api.PartialObjectMetadata]{ResyncPeriod: minute}),
		watch("configmaps in pages", restclient.Metadata(text, resourceOf("configmaps"), ""), paged[*api.PartialObjectMetadata]()),
		watch("configmaps over websocket", restclient.Dynamic(socket, resourceOf("configmaps"), ""), informer.Config[*api.Unstructured]{}),
		watch("secrets in pages", restclient.Metadata(heads, resourceOf("secrets"), ""), paged[*api.PartialObjectMetadata]()),
		watch("widgets", restclient.Dynamic(text, resourceOf("widgets"), ""), informer.Config[*api.Unstructured]{}),
		watch("gears, which come and go", restclient.Metadata(heads, resourceOf("gears"), ""), informer.Config[*api.PartialObjectMetadata]{}),
		watch("gears over websocket", restclient.Dynamic(socket, resourceOf("gears"), ""), paged[*api.Unstructured]()),
	}
	for range deliveries {
		if err := o.join(); err != nil {
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	o.stop = stop
	for _, w := range o.watched {
		o.ended.Go(func() { _ = w.run(ctx) })
	}
	return o, nil
}

// paged lists in pages of seven, never as a stream.
func paged[T history.Object]() informer.Config[T] {
	return informer.Config[T]{Reflector: reflector.Config[T]{PageSize: 7, DisableWatchList: true}}
}

func resourceOf(name string) api.GroupVersionResource {
	switch name {
	case "widgets", "gears":
		return api.GroupVersionResource{Group: widgets.Group, Version: widgets.Version, Resource: name}
	}
	return api.GroupVersionResource{Version: "v1", Resource: name}
}

func (o *observers) client(d *door, transport restclient.WatchTransport, codec restclient.Codec) (*restclient.Client, error) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: d.kubeconfig})
	if err != nil {
		return nil, fmt.Errorf("informers: %w", err)
	}
	config.WatchTransport = transport
	config.Codec = codec
	config.MaxRetryAfter = 10 * time.Second
	config.Dial = o.dial
	client, err := restclient.New(config)
	if err != nil {
		return nil, fmt.Errorf("informers: %w", err)
	}
	o.clients = append(o.clients, client)
	return client, nil
}

// dial counts connections.
func (o *observers) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	o.connections.Add(1)
	return &countedConn{Conn: conn, open: &o.connections}, nil
}

// join adds a handler to each informer; some are slow.
func (o *observers) join() error {
	options, slow := deliveries[o.joined%len(deliveries)], time.Duration(0)
	if o.joined%2 == 1 {
		slow = 2 * time.Millisecond
	}
	o.joined++
	for _, w := range o.watched {
		if err := w.join(options, slow); err != nil {
			return err
		}
	}
	return nil
}

// leave removes the latest handler of each informer.
func (o *observers) leave(ctx context.Context) error {
	for _, w := range o.watched {
		if err := w.leave(ctx); err != nil {
			return err
		}
	}
	return nil
}

// end stops the informers and returns what they leak.
func (o *observers) end() []string {
	o.stop()
	o.ended.Wait()
	var found []string
	for _, c := range o.clients {
		c.Close()
		if shot := c.Snapshot(); shot.Watches != 0 || shot.InFlight != 0 {
			found = append(found, fmt.Sprintf("informers have ended, and %d watches and %d requests are still open", shot.Watches, shot.InFlight))
		}
	}
	if open := o.connections.Load(); open != 0 {
		found = append(found, fmt.Sprintf("informers have ended, and %d connections are open", open))
	}
	for _, stack := range goroutinesOf("orrery/informer", "orrery/deltafifo", "orrery/restclient") {
		found = append(found, "informers have ended, and this goroutine is left:\n"+stack)
	}
	return found
}

// goroutinesOf returns the stacks with one of the packages. A goroutine may need a moment for its
// last instructions after it has reported its end.
func goroutinesOf(packages ...string) (found []string) {
	for range 100 {
		if found = stacksWith(packages); len(found) == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return found
}

func stacksWith(packages []string) (found []string) {
	buffer := make([]byte, 8<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	for _, stack := range strings.Split(string(buffer), "\n\n") {
		for _, p := range packages {
			if strings.Contains(stack, p) && !strings.Contains(stack, "stacksWith") {
				found = append(found, stack)
				break
			}
		}
	}
	return found
}

// counts returns the numbers of events and tombstones at all handlers.
func (o *observers) counts() (events, tombstones int) {
	for _, w := range o.watched {
		e, t := w.counts()
		events, tombstones = events+e, tombstones+t
	}
	return events, tombstones
}

// countedConn is a connection that is counted while it is open.
type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}
