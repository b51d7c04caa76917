package integration_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/restclienttest"
)

// way is how the clients reach the server.
type way struct {
	name  string
	tls   bool // HTTP/2 for everything but websockets
	watch restclient.WatchTransport
}

var ways = []way{
	{"http", false, restclient.WatchHTTP},
	{"http2", true, restclient.WatchHTTP},
	{"websocket", false, restclient.WatchWebSocket},
	{"websocket over tls", true, restclient.WatchWebSocket},
}

// world is a server with three collections, and an informer of each over one client.
type world struct {
	t        *testing.T
	way      way
	server   *restclienttest.Server
	client   *restclient.Client
	settings settings
	token    token
	subjects []subject // after run

	informers informer.SharedInformerFactory
	cancel    context.CancelFunc // nil while stopped
	apiServer
}

// newWorld returns a world. change, if not nil, adjusts the configuration of the client.
func newWorld(t *testing.T, over way, change func(*restclient.Config)) *world {
	w := &world{t: t, way: over, apiServer: apiServer{
		newCollection("/api/v1/namespaces", "v1", "Namespace", false),
		newCollection("/api/v1/pods", "v1", "Pod", true),
		newCollection("/apis/example.org/v1/widgets", "example.org/v1", "Widget", true),
	}}
	if over.tls {
		w.server = restclienttest.NewTLSServer(t, w.apiServer, restclienttest.NewAuthority(t), nil)
	} else {
		w.server = restclienttest.NewServer(t, w.apiServer)
	}
	w.client = w.server.Client(func(cfg *restclient.Config) {
		cfg.Codec = fast.Codec{} // as in orrery run
		cfg.WatchTransport = over.watch
		cfg.SilenceTimeout = -1 // the informers' idle timeout is tested here, not the client's
		cfg.Credentials = &w.token
		if change != nil {
			change(cfg)
		}
	})
	w.settings.DisableWatchList = true
	w.settings.MinWatchTimeout = 24 * time.Hour // random by default, so scenarios do without
	w.settings.IdleTimeout = 3 * time.Minute    // over HTTP/1.1 too, so that all ways behave alike
	w.settings.Backoff = reflector.BackoffConfig{Jitter: -1}
	return w
}

// token is a credentials file that may be missing for a while.
type token struct{ missing atomic.Bool }

func (k *token) Apply(r *http.Request) error {
	if k.missing.Load() {
		return &fs.PathError{Op: "open", Path: "token", Err: syscall.ENOENT}
	}
	r.Header.Set("Authorization", "Bearer token")
	return nil
}

func (k *token) Unauthorized(*http.Request)                   {}
func (k *token) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

// run starts the informers, each with one handler.
func (w *world) run() {
	widgets := api.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}
	w.subjects = []subject{
		watch(&w.informers, w.apiServer[0], restclient.Typed[*api.Namespace](w.client, api.NamespacesResource, ""), w.settings, typedDiffers),
		watch(&w.informers, w.apiServer[1], restclient.Metadata(w.client, api.PodsResource, ""), w.settings, headDiffers),
		watch(&w.informers, w.apiServer[2], restclient.Dynamic(w.client, widgets, ""), w.settings, documentDiffers),
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.join()
	if err := w.informers.Start(ctx); err != nil {
		w.t.Error(err)
	}
}

// join adds a handler to each informer.
func (w *world) join() {
	for _, s := range w.subjects {
		if err := s.join(); err != nil {
			w.t.Errorf("%s: %v", s.on().kind, err)
		}
	}
}

// set changes the object with the given name in every collection.
func (w *world) set(name, value string) {
	for _, c := range w.apiServer {
		c.set(name, value)
	}
}

// each calls do for every collection.
func (w *world) each(do func(*collection)) {
	for _, c := range w.apiServer {
		do(c)
	}
}

// verify compares every store and every history with the server.
func (w *world) verify() error {
	var wrong []error
	for _, s := range w.subjects {
		if err := s.verify(); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", s.on().kind, err))
		}
	}
	return errors.Join(wrong...)
}

// stop stops the informers and reports leaks.
func (w *world) stop() error {
	if w.cancel == nil {
		return nil
	}
	w.cancel()
	w.cancel = nil
	w.informers.Shutdown()
	w.client.Close()
	synctest.Wait()
	var left []error
	if n := w.server.Connections(); n > 0 {
		left = append(left, fmt.Errorf("%d connections are open", n))
	}
	if shot := w.client.Snapshot(); shot.Watches != 0 || shot.InFlight != 0 {
		left = append(left, fmt.Errorf("the client counts %d watches and %d requests", shot.Watches, shot.InFlight))
	}
	w.each(func(c *collection) {
		if n := c.source.Watchers(); n > 0 {
			left = append(left, fmt.Errorf("%s: the server has %d watches", c.kind, n))
		}
	})
	return errors.Join(left...)
}

// journal returns the new lines, which must be the same for all informers.
func (w *world) journal() []string {
	first := w.apiServer[0].take()
	for _, c := range w.apiServer[1:] {
		if lines := c.take(); !slices.Equal(lines, first) {
			w.t.Errorf("%s:\n%q\nwhere %s:\n%q", c.kind, lines, w.apiServer[0].kind, first)
		}
	}
	return first
}
