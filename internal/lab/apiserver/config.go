package apiserver

import (
	"time"

	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/kubelet"
	"orrery/internal/lab/apiserver/store"
)

// Trace is a set of functions that are called as requests pass. Each may be nil. They are called on the goroutine of the
// request, any number of them at a time.
type Trace struct {
	// RequestStarted is called when it is known who sends a request. The end of a watch may be hours away.
	RequestStarted func(RequestInfo)
	// RequestDone is called when a request has been answered; that of a watch when it has ended.
	RequestDone func(RequestInfo, RequestResult)
	// Panicked is called with what a handler panicked with, and its stack.
	Panicked func(info RequestInfo, value any, stack []byte)
}

// RequestInfo describes a request.
type RequestInfo struct {
	// Method and URI are as they came.
	Method, URI string
	// Verb is the Kubernetes verb: get, list, watch, create, update, patch, delete or deletecollection for resources, the
	// method in small letters otherwise.
	Verb string
	// User is the name of who asks; "" if this is not known.
	User string
	// UserAgent is how the client calls itself.
	UserAgent string
}

// RequestResult is how a request went.
type RequestResult struct {
	// Code is the HTTP status code, 101 for a websocket.
	Code int
	// Bytes is the length of the body as it was sent, without frames.
	Bytes int64
	// Duration is from the first byte of the request to the last of the answer.
	Duration time.Duration
}

// The methods below call a hook if there is one. A nil Trace has none.

func (t *Trace) requestStarted(info RequestInfo) {
	if t != nil && t.RequestStarted != nil {
		t.RequestStarted(info)
	}
}

func (t *Trace) panicked(info RequestInfo, value any, stack []byte) {
	if t != nil && t.Panicked != nil {
		t.Panicked(info, value, stack)
	}
}

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
