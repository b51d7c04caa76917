package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orrery/restclient/kubeconfig"
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
	authorities := map[string]*authority{}
	for _, name := range []string{"ca", "etcd-ca", "front-proxy-ca"} {
		ca, err := newAuthority("orrery-" + name)
		if err != nil {
			return err
		}
		authorities[name] = ca
		if err := cp.writePKI(name+".crt", ca.certPEM); err != nil {
			return err
		}
	}
	cp.cluster = authorities["ca"]
	pairs := map[string]keyPair{}
	for file, certificate := range map[string]struct {
		authority, name string
		serves          bool
		extra           []string // further names of the server
	}{
		"apiserver": {"ca", "kube-apiserver", true,
			[]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"}},
		"loopback":           {"ca", "loopback", true, nil},
		"etcd":               {"etcd-ca", "etcd", true, nil},
		"etcd-client":        {"etcd-ca", "kube-apiserver-etcd-client", false, nil},
		"front-proxy-client": {"front-proxy-ca", frontProxyName, false, nil},
	} {
		issue := authorities[certificate.authority].client
		if certificate.serves {
			issue = authorities[certificate.authority].server
		}
		pair, err := issue(certificate.name, certificate.extra...)
		if err != nil {
			return err
		}
		pairs[file] = pair
		err = errors.Join(cp.writePKI(file+".crt", pair.CertPEM), cp.writePKI(file+".key", pair.KeyPEM))
		if err != nil {
			return err
		}
	}
	private, public, err := newSigningKey()
	err = errors.Join(err, cp.writePKI("service-account.key", private), cp.writePKI("service-account.pub", public))
	if err != nil {
		return err
	}
	if cp.config.AuditPolicy != "" {
		if err := os.WriteFile(cp.auditPolicyFile(), []byte(cp.config.AuditPolicy), 0o600); err != nil {
			return err
		}
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
	if cp.api, err = newEndpoint(cp.Server(), cp.cluster.certPEM, admin); err != nil {
		return err
	}
	etcd := authorities["etcd-ca"].certPEM
	cp.etcd, err = newEndpoint("https://"+cp.ports.etcd.address(), etcd, pairs["etcd-client"])
	return err
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

func (cp *ControlPlane) writePKI(name string, data []byte) error {
	return os.WriteFile(cp.pki(name), data, 0o600)
}

// clusterName is the name of cluster and context in every kubeconfig.
const clusterName = "orrery"

// writeKubeconfig writes a kubeconfig with one cluster, one user and one context, readable by its
// owner only.
func writeKubeconfig(path, server string, caPEM []byte, user string, pair keyPair) error {
	config := &kubeconfig.Config{
		CurrentContext: clusterName,
		Clusters:       map[string]*kubeconfig.Cluster{clusterName: {Server: server, CertificateAuthorityData: caPEM}},
		Users: map[string]*kubeconfig.User{
			user: {ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM},
		},
		Contexts: map[string]*kubeconfig.Context{clusterName: {Cluster: clusterName, User: user}},
	}
	if err := config.WriteFile(path); err != nil {
		return fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return nil
}
