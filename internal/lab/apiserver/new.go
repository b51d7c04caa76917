package apiserver

import (
	"context"
	"net"
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
		config: config, trace: config.Trace,
		catalog: resources.NewCatalog(), faults: faults.New(), begun: time.Now(),
		ending: make(chan struct{}),
	}
	if err := s.inherit(config); err != nil {
		return nil, err
	}
	s.config.Predecessor = nil // it would keep all predecessors alive
	s.documents = &documents{catalog: s.catalog}
	s.registry = registry.New(registry.Config{
		Store: s.store, Catalog: s.catalog,
		Admit:    func(_ context.Context, a registry.Attributes) error { return s.faults.Admit(faultOf(a)) },
		Conflict: func(a registry.Attributes) bool { return s.faults.Conflict(faultOf(a)) },
		Lag:      s.faults.Lag,
		ExpireContinue: func(t registry.Target) bool {
			return s.faults.ExpiresContinue(faultOf(registry.Attributes{Verb: "list", Target: t}))
		},
	})
	s.faults.On(faults.Compact, func() { s.store.Compact() })
	s.faults.On(faults.CutWatches, s.cuts.cut)
	s.faults.OnCreate(s.intrude)
	s.faults.Look(s.registry)
	s.handler = handler{server: s}
	s.http = s.newHTTPServer()
	s.startWorkers()
	return s, nil
}

// inherit takes over the predecessor's state, or creates a new one.
func (s *Server) inherit(config Config) (err error) {
	if before := config.Predecessor; before != nil {
		s.identity, s.authenticator, s.store = before.identity, before.authenticator, before.store
		return nil
	}
	s.store = store.New(store.Config{Window: config.Window, Committed: config.Committed})
	s.identity, s.authenticator, err = newIdentity(config)
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
			Registry: s.registry, Catalog: s.catalog, Nodes: s.config.Nodes, Lost: s.faults.NodeLost, Stays: s.faults.PodStays,
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
		Verb: a.Verb, Group: a.Definition.Group, Version: a.Version, Resource: a.Definition.Plural, Subresource: a.Subresource,
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

// name names the cluster, the user and the context.
func (s *Server) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.Name != "" {
		return s.config.Name
	}
	_, port, _ := net.SplitHostPort(s.address) // "" before Start
	return "orrery-" + port
}
