package apiserver

import (
	"context"
	"time"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/kubelet"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/kubeconfig"
)

// New makes a server with an empty store, and starts its garbage collector and kubelet. It does not listen yet. A server
// that has been made must be stopped.
func New(config Config) (*Server, error) {
	s := &Server{
		config: config, trace: config.Trace,
		catalog: resources.NewCatalog(), faults: faults.New(), begun: time.Now(),
		ending: make(chan struct{}),
	}
	if err := s.inherit(config); err != nil {
		return nil, err
	}
	s.config.Predecessor = nil // which would keep all that came before alive
	s.documents = &documents{catalog: s.catalog}
	s.registry = registry.New(registry.Config{
		Store: s.store, Catalog: s.catalog,
		Admit:    func(a registry.Attributes) error { return s.faults.Admit(faultOf(a)) },
		Conflict: func(a registry.Attributes) bool { return s.faults.Conflict(faultOf(a)) },
		Lag:      s.faults.Lag,

		ExpireContinue: func(t registry.Target) bool {
			return s.faults.ExpiresContinue(faultOf(registry.Attributes{Verb: "list", Target: t}))
		},
	})
	s.faults.On(faults.Compact, func() { s.store.Compact() })
	s.faults.On(faults.CutWatches, s.cuts.cut)
	s.handler = handler{server: s}
	s.http = s.newHTTPServer()
	s.startWorkers()
	return s, nil
}

// inherit takes over what outlives a server, or makes it if this is the first.
func (s *Server) inherit(config Config) (err error) {
	if before := config.Predecessor; before != nil {
		s.identity, s.authenticator, s.store = before.identity, before.authenticator, before.store
		return nil
	}
	s.store = store.New(store.Config{Window: config.Window, Trace: config.StoreTrace})
	s.identity, s.authenticator, err = newIdentity(config)
	return err
}

// startWorkers starts what works on the objects without being asked. Stop ends it.
func (s *Server) startWorkers() {
	ctx, cancel := context.WithCancel(context.Background())
	s.background.Go(func() {
		<-s.ending
		cancel()
	})
	if !s.config.NoKubelet {
		nodes := kubelet.New(kubelet.Config{
			Registry: s.registry, Catalog: s.catalog, Nodes: s.config.Nodes, Lost: s.faults.NodeLost, Trace: s.config.Kubelet,
		})
		s.background.Go(func() { nodes.Run(ctx) })
	}
	if !s.config.NoCollector {
		collector := s.newCollector()
		s.background.Go(func() { collector.RunWithin(ctx, ctx) })
	}
}

// faultOf is a write as the faults see it.
func faultOf(a registry.Attributes) faults.Request {
	return faults.Request{
		Verb: a.Verb, Group: a.Definition.Group, Version: a.Version, Resource: a.Definition.Plural, Subresource: a.Subresource,
		Namespace: a.Namespace, Name: a.Name, User: a.User,
	}
}

// kubeconfigName is that of the cluster, the user and the context.
const kubeconfigName = "orrery"

// Kubeconfig is a configuration with which kubectl and its like reach the server as its administrator: with its token, and
// with a client certificate as well if it speaks TLS.
func (s *Server) Kubeconfig() []byte {
	text, err := s.kubeconfig().Marshal()
	if err != nil { // strings
		panic(err)
	}
	return text
}

// WriteKubeconfig writes [Server.Kubeconfig] to a file that only its owner may read. A reader sees the old file or the new
// one, never a part.
func (s *Server) WriteKubeconfig(path string) error { return s.kubeconfig().WriteFile(path) }

func (s *Server) kubeconfig() *kubeconfig.Config {
	cluster := kubeconfig.Cluster{Server: s.URL()}
	user := kubeconfig.User{Token: kubeconfig.Secret(s.identity.token)}
	if s.config.TLS {
		cluster.CertificateAuthorityData = s.identity.authority.PEM()
		user.ClientCertificateData = s.identity.clientCertificate
		user.ClientKeyData = s.identity.clientKey
	}
	return kubeconfig.Single(kubeconfigName, cluster, user, "default")
}
