package chaos

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/internal/lab/faultnet"
)

// door is one subject's way to the API server: a [faultnet.Proxy], which knows only bytes, and a
// server that terminates TLS and has the faults of HTTP:
//
//	subject ── faultnet.Proxy ── rewriter ── kube-apiserver
//	               bytes             requests, answers, watch events
//
// The door authenticates as the user of a kubeconfig file, so the subject needs no credentials.
type door struct {
	name       string
	link       *faultnet.Link
	faults     *httpFaults
	kubeconfig string // the subject's
	// oldProtocol limits new connections to HTTP/1.1, like many proxies.
	oldProtocol atomic.Bool

	rewriter *rewriter
	server   *httptest.Server
	tcp      *faultnet.Proxy
}

// openDoor opens a door for the user of a kubeconfig file, and writes the subject's kubeconfig
// file.
func openDoor(name, userKubeconfig, kubeconfig string, seed uint64, guard *guard, shifts *shifts) (*door, error) {
	config, err := clientcmd.BuildConfigFromFlags("", userKubeconfig)
	if err != nil {
		return nil, fmt.Errorf("door %s: %w", name, err)
	}
	identity, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("door %s: %w", name, err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("door %s: %w", name, err)
	}
	d := &door{name: name, link: &faultnet.Link{}, faults: newHTTPFaults(seed), kubeconfig: kubeconfig}
	d.rewriter = newRewriter(name, target, identity, d.faults, guard, shifts)
	d.server = httptest.NewUnstartedServer(d.rewriter)
	d.server.EnableHTTP2 = true
	d.server.Config.ErrorLog = d.rewriter.proxy.ErrorLog // broken connections are expected
	d.server.TLS = &tls.Config{GetConfigForClient: d.protocols}
	d.server.StartTLS()
	d.tcp, err = faultnet.NewProxy("127.0.0.1:0", d.server.Listener.Addr().String(), d.link)
	if err == nil {
		err = d.writeKubeconfig()
	}
	if err != nil {
		d.close()
		return nil, fmt.Errorf("door %s: %w", name, err)
	}
	return d, nil
}

// protocols is called at each handshake. A nil config keeps the server's.
func (d *door) protocols(*tls.ClientHelloInfo) (*tls.Config, error) {
	if !d.oldProtocol.Load() {
		return nil, nil
	}
	config := d.server.TLS.Clone()
	config.NextProtos = []string{"http/1.1"}
	return config, nil
}

// certificate returns the certificate that the subject must trust.
func (d *door) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.server.Certificate().Raw})
}

// host returns the address of the door.
func (d *door) host() string {
	_, port, _ := net.SplitHostPort(d.tcp.Addr().String())
	return "https://127.0.0.1:" + port
}

func (d *door) writeKubeconfig() error {
	type named map[string]any
	data, err := json.Marshal(named{
		"apiVersion": "v1", "kind": "Config", "current-context": d.name,
		"clusters": []named{{"name": d.name, "cluster": named{"server": d.host(), "certificate-authority-data": d.certificate()}}},
		"users":    []named{{"name": d.name, "user": named{}}},
		"contexts": []named{{"name": d.name, "context": named{"cluster": d.name, "user": d.name}}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(d.kubeconfig, data, 0o600)
}

// heal ends all faults.
func (d *door) heal() {
	d.link.Heal()
	d.faults.heal()
	d.oldProtocol.Store(false)
}

// close breaks all connections and waits for the door's goroutines.
func (d *door) close() {
	if d.tcp != nil {
		_ = d.tcp.Close() // an error here has no consequence
	}
	d.server.CloseClientConnections()
	d.server.Close()
	d.rewriter.close()
}
