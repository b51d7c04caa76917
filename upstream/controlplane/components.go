package controlplane

import (
	"fmt"
	"strconv"
	"strings"
)

// The components, by the names of their processes and log files.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
)

// frontProxyName is the common name of the aggregation layer's client certificate. Only this name
// may impersonate users: without the setting kube-apiserver refuses to start where one authority
// signs clients and request headers, and kube-controller-manager logs errors.
const frontProxyName = "front-proxy-client"

// serviceAccountIssuer is the default issuer of service account tokens.
const serviceAccountIssuer = "https://kubernetes.default.svc.cluster.local"

func (cp *ControlPlane) etcdArgs() []string {
	client, peer := "https://"+cp.ports.etcd.address(), "https://"+cp.ports.etcdPeer.address()
	return []string{
		"--name=orrery",
		"--data-dir=" + cp.etcdDir(),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=orrery=" + peer,
		"--client-cert-auth=true",
		"--trusted-ca-file=" + cp.pki("etcd-ca.crt"),
		"--cert-file=" + cp.pki("etcd.crt"),
		"--key-file=" + cp.pki("etcd.key"),
		"--peer-client-cert-auth=true",
		"--peer-trusted-ca-file=" + cp.pki("etcd-ca.crt"),
		"--peer-cert-file=" + cp.pki("etcd.crt"),
		"--peer-key-file=" + cp.pki("etcd.key"),
		// The data does not outlive the directory, so fsync would only slow down tests.
		"--unsafe-no-fsync=true",
		// A cluster of one elects itself only after the election timeout, which is a second by
		// default.
		"--heartbeat-interval=20",
		"--election-timeout=100",
	}
}

func (cp *ControlPlane) apiServerArgs() []string {
	args := []string{
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(int(cp.ports.apiServer)),
		"--tls-cert-file=" + cp.pki("apiserver.crt"),
		"--tls-private-key-file=" + cp.pki("apiserver.key"),
		"--client-ca-file=" + cp.pki("ca.crt"),
		"--etcd-servers=https://" + cp.ports.etcd.address(),
		"--etcd-cafile=" + cp.pki("etcd-ca.crt"),
		"--etcd-certfile=" + cp.pki("etcd-client.crt"),
		"--etcd-keyfile=" + cp.pki("etcd-client.key"),
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=" + serviceAccountIssuer,
		"--service-account-key-file=" + cp.pki("service-account.pub"),
		"--service-account-signing-key-file=" + cp.pki("service-account.key"),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--requestheader-client-ca-file=" + cp.pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + cp.pki("front-proxy-client.crt"),
		"--proxy-client-key-file=" + cp.pki("front-proxy-client.key"),
		// An Endpoints object must not hold a loopback address, so the server must not publish its
		// own.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		// A stopping server ends its watches. By default it first waits a minute for them to end.
		"--shutdown-watch-termination-grace-period=5s",
	}
	if cp.config.DisableWatchCache {
		args = append(args, "--watch-cache=false")
	}
	if cp.config.AuditPolicy != "" {
		args = append(args,
			"--audit-policy-file="+cp.auditPolicyFile(),
			"--audit-log-path="+cp.AuditLog(),
			"--audit-log-mode=blocking",
			"--audit-log-maxsize=10000", // MiB; a rotation, at 100 by default, would take it from under its readers
		)
	}
	return append(args, cp.config.APIServerArgs...)
}

func (cp *ControlPlane) controllerManagerArgs() []string {
	kubeconfig := cp.kubeconfigFile(ControllerManager)
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(int(cp.ports.controllerManager)),
		"--tls-cert-file=" + cp.pki("loopback.crt"),
		"--tls-private-key-file=" + cp.pki("loopback.key"),
		"--client-ca-file=" + cp.pki("ca.crt"),
		"--requestheader-client-ca-file=" + cp.pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyName,
		"--root-ca-file=" + cp.pki("ca.crt"),
		"--service-account-private-key-file=" + cp.pki("service-account.key"),
		// Each controller uses its own service account and role, as in a real cluster, so that the
		// audit log names it.
		"--use-service-account-credentials=true",
		// Its Lease reveals a namespace controller. Without one kube-controller-manager must not
		// look suspicious.
		"--leader-elect=" + strconv.FormatBool(cp.config.NamespaceController),
		"--controllers=" + strings.Join(cp.config.controllers(), ","),
	}
	return append(args, cp.config.ControllerManagerArgs...)
}

func (cp *ControlPlane) schedulerArgs() []string {
	kubeconfig := cp.kubeconfigFile(Scheduler)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(int(cp.ports.scheduler)),
		"--tls-cert-file=" + cp.pki("loopback.crt"),
		"--tls-private-key-file=" + cp.pki("loopback.key"),
		"--client-ca-file=" + cp.pki("ca.crt"),
		"--requestheader-client-ca-file=" + cp.pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyName,
		"--leader-elect=false",
	}
}

func (cp *ControlPlane) kwokArgs() []string {
	return []string{
		"--kubeconfig=" + cp.kubeconfigFile(Kwok),
		fmt.Sprintf("--nodes=%d", cp.config.FakeNodes),
	}
}

// componentPorts holds the ports on which the components listen.
type componentPorts struct{ etcd, etcdPeer, apiServer, controllerManager, scheduler port }

func (c *componentPorts) reserve() error {
	for _, target := range []*port{&c.etcd, &c.etcdPeer, &c.apiServer, &c.controllerManager, &c.scheduler} {
		var err error
		if *target, err = reservePort(); err != nil {
			return err
		}
	}
	return nil
}
