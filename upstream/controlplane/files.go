package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
)

// Dir returns the directory of this control plane: pki, kubeconfigs, logs, etcd.
func (cp *ControlPlane) Dir() string { return cp.dir }

// Server returns the URL of the API server, which survives restarts.
func (cp *ControlPlane) Server() string { return "https://" + cp.ports.apiServer.address() }

// Kubeconfig returns the path of a kubeconfig file for user "admin" of group system:masters.
func (cp *ControlPlane) Kubeconfig() string { return cp.kubeconfigFile("admin") }

// KubeconfigFor writes a new kubeconfig file with a client certificate for a user in the given
// groups and returns its path. RBAC grants the user the rights of that name, those groups and
// system:authenticated: at first almost none.
func (cp *ControlPlane) KubeconfigFor(user string, groups ...string) (string, error) {
	cp.mu.Lock()
	cp.users++
	name := fmt.Sprintf("user-%d", cp.users)
	cp.mu.Unlock()
	return cp.addUser(name, user, groups...)
}

// LogFile returns the path of a component's output. The names are constants of this package.
func (cp *ControlPlane) LogFile(component string) string {
	return filepath.Join(cp.dir, "logs", component+".log")
}

// AuditLog returns the path of kube-apiserver's audit log, one JSON event a line; see
// [Config.AuditPolicy].
func (cp *ControlPlane) AuditLog() string { return filepath.Join(cp.dir, "logs", "audit.log") }

func (cp *ControlPlane) auditPolicyFile() string { return filepath.Join(cp.dir, "audit-policy.yaml") }

func (cp *ControlPlane) pki(name string) string { return filepath.Join(cp.dir, "pki", name) }

func (cp *ControlPlane) kubeconfigFile(name string) string {
	return filepath.Join(cp.dir, "kubeconfigs", name+".kubeconfig")
}

// makeCredentials writes the components' certificates, keys and kubeconfig files, and creates the
// endpoints of etcd and the API server.
func (cp *ControlPlane) makeCredentials() error {
	if err := cp.makeClusterCredentials(); err != nil {
		return err
	}
	if err := cp.makeEtcdCredentials(); err != nil {
		return err
	}
	if err := cp.makeFrontProxyCredentials(); err != nil {
		return err
	}
	if cp.config.AuditPolicy != "" {
		if err := os.WriteFile(cp.auditPolicyFile(), []byte(cp.config.AuditPolicy), 0o600); err != nil {
			return err
		}
	}
	private, public, err := newSigningKey()
	if err != nil {
		return err
	}
	return cp.writePKI(map[string][]byte{"service-account.key": private, "service-account.pub": public})
}

func (cp *ControlPlane) makeClusterCredentials() error {
	var err error
	if cp.cluster, err = newAuthority("orrery-ca"); err != nil {
		return err
	}
	apiServer, err := cp.cluster.server("kube-apiserver", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	loopback, err := cp.cluster.server("loopback")
	if err != nil {
		return err
	}
	if err := cp.writePKI(map[string][]byte{
		"ca.crt":        cp.cluster.certPEM,
		"apiserver.crt": apiServer.CertPEM,
		"apiserver.key": apiServer.KeyPEM,
		"loopback.crt":  loopback.CertPEM,
		"loopback.key":  loopback.KeyPEM,
	}); err != nil {
		return err
	}
	// The API server has bootstrap roles for these names.
	for name, identity := range map[string][]string{
		"admin":           {"admin", "system:masters"},
		ControllerManager: {"system:kube-controller-manager"},
		Scheduler:         {"system:kube-scheduler"},
		Kwok:              {"system:kwok", "system:masters"},
	} {
		if _, err := cp.addUser(name, identity[0], identity[1:]...); err != nil {
			return err
		}
	}
	admin, err := cp.cluster.client("admin", "system:masters")
	if err != nil {
		return err
	}
	cp.api, err = newEndpoint(cp.Server(), cp.cluster.certPEM, admin)
	return err
}

func (cp *ControlPlane) makeEtcdCredentials() error {
	ca, err := newAuthority("orrery-etcd-ca")
	if err != nil {
		return err
	}
	server, err := ca.server("etcd")
	if err != nil {
		return err
	}
	client, err := ca.client("kube-apiserver-etcd-client")
	if err != nil {
		return err
	}
	if err := cp.writePKI(map[string][]byte{
		"etcd-ca.crt":     ca.certPEM,
		"etcd.crt":        server.CertPEM,
		"etcd.key":        server.KeyPEM,
		"etcd-client.crt": client.CertPEM,
		"etcd-client.key": client.KeyPEM,
	}); err != nil {
		return err
	}
	cp.etcd, err = newEndpoint("https://"+cp.ports.etcd.address(), ca.certPEM, client)
	return err
}

func (cp *ControlPlane) makeFrontProxyCredentials() error {
	ca, err := newAuthority("orrery-front-proxy-ca")
	if err != nil {
		return err
	}
	client, err := ca.client(frontProxyName)
	if err != nil {
		return err
	}
	return cp.writePKI(map[string][]byte{
		"front-proxy-ca.crt":     ca.certPEM,
		"front-proxy-client.crt": client.CertPEM,
		"front-proxy-client.key": client.KeyPEM,
	})
}

// addUser issues a client certificate and writes it as the kubeconfig file of the given name.
func (cp *ControlPlane) addUser(name, user string, groups ...string) (string, error) {
	pair, err := cp.cluster.client(user, groups...)
	if err != nil {
		return "", err
	}
	path := cp.kubeconfigFile(name)
	return path, writeKubeconfig(path, cp.Server(), cp.cluster.certPEM, user, pair)
}

func (cp *ControlPlane) writePKI(files map[string][]byte) error {
	for name, data := range files {
		if err := os.WriteFile(cp.pki(name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
