package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/faultnet"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// The scenarios.
const (
	Hundred = "deletion/hundred"
	Empty   = "deletion/empty"
)

// cluster runs namespace controllers, one at a time, on a control plane of its own. Its methods must
// not overlap. Create it with [Start].
type cluster struct {
	config programs
	cp     *controlplane.ControlPlane
	client kubernetes.Interface // the administrator's, without a rate limit
	heads  metadata.Interface   // the same for metadata
	audit  *e2e.AuditLog
	proxy  *faultnet.Proxy // delays answers

	direct  string // kubeconfig file of the controllers
	distant string // the same, through the proxy

	runs int // makes names unique
}

// Start starts etcd, kube-apiserver, and kube-controller-manager with its garbage collector only:
// other controllers that fill or observe namespaces would be measured too. The context bounds the
// start. The caller must call Stop.
func startCluster(ctx context.Context, config programs) (*cluster, error) {
	cp, err := controlplane.Start(ctx, controlplane.Config{
		Binary:      config.ControlPlane,
		Controllers: []string{"garbage-collector-controller"},
		AuditPolicy: e2e.AuditPolicy,
	})
	if err != nil {
		return nil, err
	}
	r := &cluster{config: config, cp: cp, audit: &e2e.AuditLog{Path: cp.AuditLog()}}
	if err := r.prepare(ctx); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// prepare creates the clients, the kubeconfig files and the bystander.
func (r *cluster) prepare(ctx context.Context) error {
	rest, err := clientcmd.BuildConfigFromFlags("", r.cp.Kubeconfig())
	if err != nil {
		return err
	}
	rest.QPS = -1
	rest.ContentType = "application/vnd.kubernetes.protobuf"
	if r.client, err = kubernetes.NewForConfig(rest); err != nil {
		return err
	}
	if r.heads, err = metadata.NewForConfig(rest); err != nil {
		return err
	}
	if r.direct, err = r.cp.KubeconfigFor(e2e.ControllerIdentity); err != nil {
		return err
	}
	link := &faultnet.Link{}
	link.Delay(latency, 0)
	r.proxy, err = faultnet.NewProxy("127.0.0.1:0", strings.TrimPrefix(r.cp.Server(), "https://"), link)
	if err != nil {
		return err
	}
	if r.distant, err = r.throughProxy(); err != nil {
		return err
	}
	return r.create(ctx, []string{bystander}, true)
}

// throughProxy writes the controllers' kubeconfig with the proxy's address.
func (r *cluster) throughProxy() (path string, err error) {
	text, err := os.ReadFile(r.direct)
	if err != nil {
		return "", err
	}
	changed := strings.ReplaceAll(string(text), r.cp.Server(), "https://"+r.proxy.Addr().String())
	if changed == string(text) {
		return "", fmt.Errorf("the kubeconfig %s does not name the server %s", r.direct, r.cp.Server())
	}
	path = filepath.Join(filepath.Dir(r.direct), "through-proxy.kubeconfig")
	return path, os.WriteFile(path, []byte(changed), 0o600)
}

// Stop stops the control plane and the proxy. It returns an error if a component had died.
func (r *cluster) Stop() error {
	if r.proxy != nil {
		_ = r.proxy.Close() // an error here has no consequence
	}
	return r.cp.Stop()
}

// Run runs one side once, with a fresh controller process that has ended when Run returns.
func (r *cluster) Run(ctx context.Context, side Side, scenario string, effort bench.Effort) (bench.Outcome, error) {
	if _, _, known := r.config.subject(side); !known {
		return bench.Outcome{}, fmt.Errorf("%s: there is no namespace controller of %s", scenario, side)
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	r.runs++
	s, known := deletions[scenario]
	if !known {
		return bench.Outcome{}, fmt.Errorf("%s: there is no such scenario", scenario)
	}
	outcome, err := r.run(ctx, side, s, effort)
	if err != nil {
		return bench.Outcome{}, fmt.Errorf("%s by %s: %w", scenario, side, err)
	}
	return outcome, errors.Join(r.cp.Err(), ctx.Err())
}

// latency is the proxy's delay of each answer: concurrent requests on one connection all take
// longer by it.
const latency = 5 * time.Millisecond

// runTimeout bounds a run at several times what the slower side takes.
const runTimeout = 3 * time.Minute

// programs are the paths of the compared programs.
type programs struct {
	// Orrery is our side's controller; ControlPlane has etcd, kube-apiserver and
	// kube-controller-manager.
	Orrery, ControlPlane string
}

// subject returns a side's namespace controller and its program.
func (c programs) subject(side Side) (subject e2e.Subject, path string, known bool) {
	switch side {
	case Ours:
		return e2e.Orrery(), c.Orrery, true
	case Textbook:
		textbook := e2e.Orrery()
		textbook.Name += "-textbook"
		textbook.Args = func(kubeconfig string) []string {
			return append(e2e.Orrery().Args(kubeconfig), "--gears=textbook")
		}
		return textbook, c.Orrery, true
	case Theirs:
		return e2e.BuiltIn(), c.ControlPlane, true
	}
	return e2e.Subject{}, "", false
}
