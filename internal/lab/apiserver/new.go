package apiserver

import (
	"context"
	"net"
	"net/http"
	"slices"
	"time"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/kubelet"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/kubeconfig"
)

// New returns a server with an empty store and starts its garbage collector and kubelet. It does
// not listen yet. It must be stopped.
func New(config Config) (*Server, error) {
	s := &Server{
		config:  config,
		catalog: resources.NewCatalog(), faults: faults.New(),
		ending: make(chan struct{}), cut: make(chan struct{}),
	}
	if err := s.inherit(config); err != nil {
		return nil, err
	}
	if config.Trace != nil {
		s.trace = *config.Trace
	}
	s.config.Predecessor = nil // it would keep all predecessors alive
	s.registry = registry.New(registry.Config{
		Store: s.store, Catalog: s.catalog,
		Admit:    func(_ context.Context, a registry.Attributes) error { return s.faults.Admit(faultOf(a)) },
		Conflict: func(a registry.Attributes) bool { return s.faults.Conflict(faultOf(a)) },
		Lag:      s.faults.Lag,
		ExpireContinue: func(t registry.Target) bool {
			return s.faults.ExpiresContinue(faultOf(registry.Attributes{Verb: "list", Target: t}))
		},
	})
	s.faults.On(faults.Compact, func(faults.Options) { s.store.Compact() })
	s.faults.On(faults.CutWatches, func(faults.Options) { s.cutWatches() })
	s.faults.On(faults.KeepsCreating, s.intrude)
	s.faults.Look(s.registry)
	s.handler = http.HandlerFunc(s.serve)
	s.http = s.newHTTPServer()
	s.startWorkers()
	return s, nil
}

// inherit takes over the predecessor's state, or creates a new one.
func (s *Server) inherit(config Config) (err error) {
	if before := config.Predecessor; before != nil {
		s.identity, s.store = before.identity, before.store
		return nil
	}
	s.store = store.New(store.Config{Window: config.Window, Committed: config.Committed})
	s.identity, err = newIdentity(config)
	return err
}

// startWorkers starts the kubelet and the garbage collector, which Stop ends.
func (s *Server) startWorkers() {
	ctx, cancel := context.WithCancel(context.Background())
	s.background.Go(func() {
		<-s.ending
		cancel()
	})
	if !s.config.NoKubelet {
		nodes := kubelet.New(kubelet.Config{
			Registry: s.registry, Catalog: s.catalog, Nodes: s.config.Nodes, Lost: s.faults.NodeLost,
			Stays: s.faults.PodStays,
		})
		s.background.Go(func() { nodes.Run(ctx) })
	}
	if !s.config.NoCollector {
		s.background.Go(func() { s.collectGarbage(ctx) })
	}
}

// faultOf converts a write for package faults.
func faultOf(a registry.Attributes) faults.Request {
	r := faults.Request{
		Verb: a.Verb, Group: a.Definition.Group, Version: a.Definition.Version,
		Resource: a.Definition.Plural, Subresource: a.Subresource,
		Namespace: a.Namespace, Name: a.Name, User: a.User, Collection: a.Collection,
	}
	if a.Object != nil {
		r.Annotations = a.Object.GetAnnotations()
	}
	return r
}

// extensionName marks the cluster in a kubeconfig as a server of this package.
const extensionName = "orrery"

// Wrote reports whether a server of this package has written the cluster.
func Wrote(cluster *kubeconfig.Cluster) bool {
	return slices.ContainsFunc(cluster.Extensions, func(e kubeconfig.Extension) bool { return e.Name == extensionName })
}

// Kubeconfig returns a kubeconfig of the server's administrator, with a token and, with TLS, a
// client certificate.
func (s *Server) Kubeconfig() []byte {
	text, err := s.kubeconfig().Marshal()
	if err != nil {
		panic(err)
	}
	return text
}

// WriteKubeconfig writes [Server.Kubeconfig] atomically to a file that only its owner can read.
func (s *Server) WriteKubeconfig(path string) error { return s.kubeconfig().WriteFile(path) }

func (s *Server) kubeconfig() *kubeconfig.Config {
	cluster := kubeconfig.Cluster{Server: s.URL(), Extensions: []kubeconfig.Extension{{
		Name: extensionName, Extension: map[string]string{"provider": "lab"},
	}}}
	user := kubeconfig.User{Token: kubeconfig.Secret(s.identity.token)}
	if s.config.TLS {
		cluster.CertificateAuthorityData = s.identity.authority.PEM()
		user.ClientCertificateData = s.identity.clientCertificate
		user.ClientKeyData = s.identity.clientKey
	}
	return kubeconfig.Single(s.name(), cluster, user, "default")
}

// name names the cluster, the user and the context, so that two kubeconfigs can be merged.
func (s *Server) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, port, _ := net.SplitHostPort(s.address) // "" before Start
	return "orrery-" + port
}

// Trace holds optional hooks for requests. They run on the goroutine of the request and may run
// concurrently.
type Trace struct {
	// RequestStarted is called when the user of a request is known. A watch may end hours later.
	RequestStarted func(RequestInfo)
	// RequestDone is called when a request was answered or a watch has ended.
	RequestDone func(RequestInfo, RequestResult)
	// Panicked is called with the value and stack of a panic in a handler.
	Panicked func(info RequestInfo, value any, stack []byte)
}

type RequestInfo struct {
	// Method and URI are as received.
	Method, URI string
	// Verb is the Kubernetes verb for resources (get, list, watch, create, update, patch, delete,
	// deletecollection), and the method in lower case otherwise.
	Verb string
	// User is the name of the user, "" if unknown.
	User string
	// UserAgent is the client's User-Agent.
	UserAgent string
}

// RequestResult describes the answer to a request.
type RequestResult struct {
	// Code is the HTTP status code, 101 for a websocket.
	Code int
	// Bytes is the length of the body, without frames.
	Bytes int64
	// Duration is the time from the request to the end of the answer.
	Duration time.Duration
}

// Config configures a [Server]. The zero value is a server on a free loopback port, without TLS,
// that accepts only its own administrator (see [Server.Kubeconfig]).
type Config struct {
	// Listen is the address to listen on. The default is "127.0.0.1:0"; port 0 is a free port.
	Listen string
	// TLS enables TLS, with a certificate authority of the server's own that also signs the client
	// certificate in the kubeconfig.
	TLS bool

	// Tokens maps additional bearer tokens to users.
	Tokens map[string]User
	// Unprotected treats requests without credentials as the administrator's. Every client that can
	// reach the server may do everything.
	Unprotected bool

	// Predecessor, if not nil, is a stopped server that the new one replaces, like a restarted
	// kube-apiserver. The new server takes over its objects, history, tokens, certificates, and its
	// Window, Tokens and Committed. A real kube-apiserver starts with an empty watch
	// cache; call Store().Compact to simulate that.
	Predecessor *Server

	// Window is how many events of each resource are kept for watches to resume; 0 means 10000.
	Window int
	// Nodes is the number of simulated nodes; 0 means 1.
	Nodes int
	// NoKubelet disables the simulated kubelet: pods are never scheduled, started or stopped.
	NoKubelet bool
	// NoCollector disables the garbage collector: dependents outlive their owners.
	NoCollector bool
	// Demo reports that a namespace controller runs in the same process. The server's version says
	// so, to prevent a second one.
	Demo bool

	// Trace and Committed receive events of requests and writes. Each may be nil.
	Trace     *Trace
	Committed func(prefix string, e store.Event)
}
