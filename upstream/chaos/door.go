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

// door is the way of one subject to the API server. Bytes pass a [faultnet.Proxy], which knows nothing but bytes, and
// then a server that ends the encryption and has the faults of HTTP:
//
//	subject ── faultnet.Proxy ── rewriter ── kube-apiserver
//	            bytes             requests, answers, watch events
//
// The subject needs no credentials: the door speaks for it, as the user whose kubeconfig file it was given.
type door struct {
	name       string
	link       *faultnet.Link
	faults     *httpFaults
	kubeconfig string // for the subject
	// oldProtocol has new connections know nothing but HTTP/1.1, as behind many a proxy.
	oldProtocol atomic.Bool

	rewriter *rewriter
	server   *httptest.Server
	tcp      *faultnet.Proxy
}

// openDoor opens a door for the user of a kubeconfig file, and writes a kubeconfig file for the subject.
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
	d.server.Config.ErrorLog = d.rewriter.proxy.ErrorLog // connections that break are what this is about
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

// protocols is asked at each handshake. Nothing is what the server does anyway.
func (d *door) protocols(*tls.ClientHelloInfo) (*tls.Config, error) {
	if !d.oldProtocol.Load() {
		return nil, nil
	}
	config := d.server.TLS.Clone()
	config.NextProtos = []string{"http/1.1"}
	return config, nil
}

// certificate is what the subject has to trust.
func (d *door) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.server.Certificate().Raw})
}

// host is where the subject finds the API server.
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

// heal switches all faults off.
func (d *door) heal() {
	d.link.Heal()
	d.faults.heal()
	d.oldProtocol.Store(false)
}

// close breaks all connections and returns when nothing of the door is left.
func (d *door) close() {
	if d.tcp != nil {
		_ = d.tcp.Close() // there is nothing to be done about a socket that does not close
	}
	d.server.CloseClientConnections()
	d.server.Close()
	d.rewriter.close()
}
