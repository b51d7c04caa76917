package main

import (
	"errors"
	"fmt"

	"orrery/restclient"
	"orrery/restclient/api"
)

var errNothingToRun = errors.New("no controller is left to run; see --controllers")

// startError is why a run could not begin.
type startError struct {
	doing  string
	server string
	err    error
}

func (e *startError) Error() string {
	return fmt.Sprintf("%s at %s failed: %v", e.doing, e.server, e.err)
}

func (e *startError) Unwrap() error { return e.err }

// explain turns an error into one sentence that says what to do about it.
func explain(err error) string {
	var start *startError
	if !errors.As(err, &start) {
		return err.Error()
	}
	advice := adviceFor(start.err)
	if advice == "" {
		return err.Error()
	}
	return fmt.Sprintf("%s at %s failed: %s (%v)", start.doing, start.server, advice, start.err)
}

// adviceFor is the table of what usually helps.
func adviceFor(err error) string {
	var transport *restclient.TransportError
	switch {
	case api.IsUnauthorized(err):
		return "the server does not accept these credentials, check the user in the kubeconfig or log in again"
	case api.IsForbidden(err):
		return "this user may not do that, use one that may get, list, watch and delete namespaces and their content (the role system:controller:namespace-controller has these rights)"
	case api.IsNotFound(err):
		return "something answers there that is not a Kubernetes API server, check the server address in the kubeconfig"
	case errors.As(err, &transport):
		return adviceForTransport(transport.Kind)
	}
	return ""
}

func adviceForTransport(kind restclient.TransportErrorKind) string {
	switch kind {
	case restclient.HostNotFound:
		return "the host name does not exist, check the server address in the kubeconfig"
	case restclient.HostUnreachable:
		return "nobody answers there, check that the cluster is running and that the kubeconfig points to it"
	case restclient.CertificateUnknown:
		return "the server's certificate is signed by an authority that the kubeconfig does not trust, check certificate-authority"
	case restclient.CertificateInvalid:
		return "the server's certificate is not valid for this address or at this time, check the server address, tls-server-name and the clock"
	case restclient.CertificateRejected:
		return "the server does not accept the client certificate, check client-certificate and whether it has expired"
	case restclient.NotTLS:
		return "the server does not speak TLS on this port, use http:// or the right port in the kubeconfig"
	case restclient.TimedOut:
		return "no answer in time, check that the cluster is running and that no firewall is in between"
	case restclient.ProxyFailed:
		return "the proxy did not work, check HTTPS_PROXY, NO_PROXY and proxy-url in the kubeconfig"
	case restclient.CredentialsFailed:
		return "the credentials could not be obtained, check the user in the kubeconfig"
	default:
		return ""
	}
}
