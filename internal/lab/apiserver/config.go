package apiserver

import (
	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/kubelet"
	"orrery/internal/lab/apiserver/store"
)

// User is who sends a request.
type User = authn.User

// Config says what a [Server] is to be. The zero value is a server on a free port of the loopback interface, without TLS,
// that only its own administrator may use (see [Server.Kubeconfig]).
type Config struct {
	// Listen is the address to listen on, "127.0.0.1:0" by default; port 0 is a free one.
	Listen string
	// Hosts are names and addresses besides the one of Listen that the server is called by; they get into its certificate.
	Hosts []string
	// TLS encrypts connections. The server makes an authority of its own, which also signs the client certificate of its
	// kubeconfig.
	TLS bool

	// Tokens are the bearer tokens that are accepted, with the users that they stand for, besides the administrator's own.
	Tokens map[string]User
	// ClientCA is a bundle of PEM certificates. Client certificates that one of them has signed are accepted, besides those
	// of the server's own authority. TLS only.
	ClientCA []byte
	// Anonymous lets requests without credentials in, as the user system:anonymous, who may see that the server is well and
	// nothing else: 403 instead of 401, as on most clusters.
	Anonymous bool
	// Unprotected takes requests without credentials for the administrator's. Whoever can reach the server may do everything.
	Unprotected bool

	// Predecessor, if not nil, is a server whose place the new one takes, as a kube-apiserver does that is restarted: it finds
	// the objects, the history, the tokens and the certificates of the other, which must have been stopped. Window, Tokens,
	// ClientCA, Anonymous and StoreTrace are then the predecessor's. (A restarted kube-apiserver has less: its watch cache
	// begins anew. Whoever wants that as well calls Store().Compact.)
	Predecessor *Server

	// Window is how many events of each resource are remembered for watches to resume from; 0: 10000.
	Window int
	// Nodes is how many nodes the fake kubelet plays; 0: 1.
	Nodes int
	// NoKubelet leaves the fake kubelet out: pods are never scheduled, run or ended by anybody.
	NoKubelet bool
	// NoCollector leaves the garbage collector out: dependents outlive their owners.
	NoCollector bool
	// Demo says that a namespace controller runs beside the server, in the same process. The server's version tells others, lest they
	// start a second one.
	Demo bool

	// Trace is told of requests, StoreTrace of writes, Kubelet of pods; nil for none.
	Trace      *Trace
	StoreTrace *store.Trace
	Kubelet    *kubelet.Trace
}
