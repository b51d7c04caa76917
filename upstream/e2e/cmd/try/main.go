// Command try shows the namespace controller at work: it starts a real control plane on loopback,
// runs "orrery run" on it, fills a namespace, deletes it and reports each step until the namespace
// is gone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

func main() {
	binary := flag.String("controlplane", "",
		"the control plane's `program`; default: bin/controlplane, looked for upwards")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := try(ctx, *binary); err != nil {
		fmt.Fprintln(os.Stderr, "try:", err)
		os.Exit(1)
	}
}

const namespace = "orrery-try"

// started is the start of the narration.
var started = time.Now()

// say prints one line of the narration.
func say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(started).Seconds(), fmt.Sprintf(format, args...))
}

// try plays the scene. When it returns, everything that it started has ended.
func try(ctx context.Context, binary string) (err error) {
	say("starting etcd, kube-apiserver, kube-controller-manager (without its namespace controller) and one fake node")
	// The controller has the built-in role, and with it no right to create Events.
	config := controlplane.Config{Binary: binary, FakeNodes: 1}
	cluster, err := e2e.StartCluster(ctx, e2e.Orrery(), config, "-v1", "--events=false")
	if err != nil {
		return err
	}
	defer func() {
		say("the controller's log:")
		fmt.Println(cluster.Controller().Tail())
		err = errors.Join(err, cluster.Stop())
	}()
	user, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		return err
	}
	user.QPS = -1 // the default of 5 requests per second is for long-running programs
	client, err := kubernetes.NewForConfig(user)
	if err != nil {
		return err
	}
	say("ready at %s; \"orrery run\" is at work", user.Host)
	if err := fill(ctx, client); err != nil {
		return err
	}
	say("created namespace %s with 20 ConfigMaps, 20 Secrets and a running pod that takes 3 s to end", namespace)
	if err := client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
		return err
	}
	say("deleted it: the API server has set deletionTimestamp and waits until its finalizer is removed")
	if err := watchItGo(ctx, client); err != nil {
		return err
	}
	say("the namespace is gone")
	return nil
}

// fill creates the namespace with some content.
func fill(ctx context.Context, client kubernetes.Interface) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	for i := range 20 {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("object-%02d", i)}
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta},
			metav1.CreateOptions{}); err != nil {
			return err
		}
		if _, err := client.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: meta},
			metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "busy",
			Annotations: map[string]string{controlplane.PodDeletionDelay: "3s"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/pretended"}}},
	}
	if err := createPod(ctx, client, pod); err != nil {
		return err
	}
	return waitFor(ctx, "the pod to run", func() (bool, error) {
		current, err := client.CoreV1().Pods(namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		return err == nil && current.Status.Phase == corev1.PodRunning, err
	})
}

// createPod creates a pod once its namespace has a service account, without which the API server
// refuses it.
func createPod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	var last error
	err := waitFor(ctx, "the service account", func() (bool, error) {
		_, last = client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return !apierrors.IsForbidden(last), nil
	})
	return errors.Join(err, last)
}

// watchItGo prints each change of the namespace's conditions until the namespace is gone.
func watchItGo(ctx context.Context, client kubernetes.Interface) error {
	reported := map[corev1.NamespaceConditionType]string{}
	return waitFor(ctx, "the namespace to go", func() (bool, error) {
		ns, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		for _, condition := range ns.Status.Conditions {
			if reported[condition.Type] != condition.Message {
				reported[condition.Type] = condition.Message
				say("condition %s=%s: %s", condition.Type, condition.Status, condition.Message)
			}
		}
		return false, nil
	})
}

// waitFor polls until done returns true. A minute is far longer than anything here takes.
func waitFor(ctx context.Context, what string, done func() (bool, error)) error {
	check := func(context.Context) (bool, error) { return done() }
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, check); err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
