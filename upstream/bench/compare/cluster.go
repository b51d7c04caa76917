package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/chaos"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// cluster runs namespace controllers, one at a time, on a control plane of its own. Its methods
// must not overlap.
type cluster struct {
	config programs
	cp     *controlplane.ControlPlane
	client dynamic.Interface  // the administrator's, without a rate limit
	heads  metadata.Interface // the same for metadata
	audit  *e2e.AuditLog
	proxy  *chaos.Proxy // delays answers

	content []*unstructured.Unstructured // of a filled namespace

	direct  string // kubeconfig file of the controllers
	distant string // the same, through the proxy

	runs int // makes names unique
}

// programs are the paths of the compared programs.
type programs struct {
	// Orrery is our side's controller; ControlPlane has etcd, kube-apiserver and
	// kube-controller-manager.
	Orrery, ControlPlane string
}

// subject returns a side's namespace controller and its program.
func (c programs) subject(side Side) (subject e2e.Subject, path string) {
	switch side {
	case Theirs:
		return e2e.BuiltIn(), c.ControlPlane
	case Textbook:
		textbook := e2e.Orrery()
		textbook.Name += "-textbook"
		textbook.Args = func(kubeconfig string) []string {
			return append(e2e.Orrery().Args(kubeconfig), "--gears=textbook")
		}
		return textbook, c.Orrery
	default:
		return e2e.Orrery(), c.Orrery
	}
}

// startCluster starts etcd, kube-apiserver, and kube-controller-manager with its garbage collector
// only: other controllers that fill or observe namespaces would be measured too. The context bounds
// the start. The caller must call Stop.
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

// latency is the proxy's delay of each answer: concurrent requests on one connection all take
// longer by it.
const latency = 5 * time.Millisecond

//go:embed content.yaml
var content []byte

// prepare creates the clients, the kubeconfig files and the bystander.
func (r *cluster) prepare(ctx context.Context) error {
	rest, err := clientcmd.BuildConfigFromFlags("", r.cp.Kubeconfig())
	if err != nil {
		return err
	}
	rest.QPS = -1
	if r.client, err = dynamic.NewForConfig(rest); err != nil {
		return err
	}
	if r.heads, err = metadata.NewForConfig(rest); err != nil {
		return err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		r.content = append(r.content, object)
	}
	if r.direct, err = r.cp.KubeconfigFor(e2e.ControllerIdentity); err != nil {
		return err
	}
	link := &chaos.Link{}
	link.Delay(latency)
	r.proxy, err = chaos.NewProxy("127.0.0.1:0", strings.TrimPrefix(r.cp.Server(), "https://"), link)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(r.direct)
	if err != nil {
		return err
	}
	changed := strings.ReplaceAll(string(text), r.cp.Server(), "https://"+r.proxy.Addr().String())
	r.distant = filepath.Join(filepath.Dir(r.direct), "through-proxy.kubeconfig")
	if err := os.WriteFile(r.distant, []byte(changed), 0o600); err != nil {
		return err
	}
	return r.create(ctx, []string{bystander}, true)
}

// Stop stops the control plane and the proxy. It returns an error if a component had died.
func (r *cluster) Stop() error {
	if r.proxy != nil {
		_ = r.proxy.Close() // an error here has no consequence
	}
	return r.cp.Stop()
}

// startController starts a side's controller and returns when it watches namespaces.
func (r *cluster) startController(ctx context.Context, side Side, kubeconfig string) (*controlplane.Process, error) {
	if err := r.audit.Skip(); err != nil {
		return nil, err
	}
	subject, path := r.config.subject(side)
	process, err := controlplane.StartProcess(controlplane.ProcessConfig{
		Name:    subject.Name,
		Path:    path,
		Args:    subject.Args(kubeconfig),
		LogFile: r.cp.LogFile(fmt.Sprintf("%s-%03d", subject.Name, r.runs)),
	})
	if err != nil {
		return nil, err
	}
	err = poll(ctx, "the controller to watch namespaces", func() (bool, error) {
		more, err := r.audit.Read()
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(more, e2e.Request.WatchesNamespaces), process.Err()
	})
	if err != nil {
		process.Kill()
	}
	return process, err
}

// poll calls done until it returns true or an error, or the context ends.
func poll(ctx context.Context, what string, done func() (bool, error)) error {
	check := func(context.Context) (bool, error) { return done() }
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, check)
	if wait.Interrupted(err) {
		return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
	}
	return err
}

// bystander is a namespace with the same content that is not deleted and must not change.
const bystander = "bench-bystander"

var namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")

// kindOf returns the type of an object of the content.
func kindOf(object *unstructured.Unstructured) schema.GroupVersionResource {
	kind := object.GroupVersionKind()
	return kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")
}

// create creates namespaces, filled or empty.
func (r *cluster) create(ctx context.Context, names []string, filled bool) error {
	return parallelize(ctx, names, func(name string) error {
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName(name)
		_, err := r.client.Resource(namespaces).Create(ctx, namespace, metav1.CreateOptions{})
		errs := []error{err}
		for _, object := range r.content {
			if filled && err == nil {
				object := object.DeepCopy()
				_, err := r.client.Resource(kindOf(object)).Namespace(name).Create(ctx, object, metav1.CreateOptions{})
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})
}

// deleteAndAwait deletes namespaces concurrently and returns when the last is gone.
func (r *cluster) deleteAndAwait(ctx context.Context, names []string) error {
	watch, err := r.heads.Resource(namespaces).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watch.Stop()
	err = parallelize(ctx, names, func(name string) error {
		return r.client.Resource(namespaces).Delete(ctx, name, metav1.DeleteOptions{})
	})
	if err != nil {
		return err
	}
	left := sets.New(names...)
	for len(left) > 0 {
		select {
		case event, ok := <-watch.ResultChan():
			if !ok {
				return errors.New("the watch of the namespaces has ended")
			}
			if namespace, ok := event.Object.(metav1.Object); ok && event.Type == "DELETED" {
				left.Delete(namespace.GetName())
			}
		case <-ctx.Done():
			return fmt.Errorf("%d of %d namespaces are still there: %w", len(left), len(names), context.Cause(ctx))
		}
	}
	return nil
}

// parallelize calls do for each name, several at a time.
func parallelize(ctx context.Context, names []string, do func(name string) error) error {
	const atOnce = 16
	errs := make([]error, len(names))
	workqueue.ParallelizeUntil(ctx, atOnce, len(names), func(i int) { errs[i] = do(names[i]) })
	return errors.Join(append(errs, ctx.Err())...)
}

// inventory returns a line for each namespace and each object of the content's types: type,
// namespace, name, UID and version.
func (r *cluster) inventory(ctx context.Context) (sets.Set[string], error) {
	kinds := sets.New(namespaces)
	for _, object := range r.content {
		kinds.Insert(kindOf(object))
	}
	lines := sets.New[string]()
	for kind := range kinds {
		list, err := r.heads.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			lines.Insert(fmt.Sprintln(kind.Resource, item.Namespace, item.Name, item.UID, item.ResourceVersion))
		}
	}
	return lines, nil
}

// proveUntouched returns a *[bench.ProofError] that lists the differences between two inventories.
func proveUntouched(before, after sets.Set[string]) error {
	changes := sets.List(before.SymmetricDifference(after))
	return bench.Prove("changes of what was not to be touched", "", strings.Join(changes, ""))
}
