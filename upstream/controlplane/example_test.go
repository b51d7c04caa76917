package controlplane_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/upstream/controlplane"
)

// Start a cluster and list its namespaces by client-go.
func Example() {
	ctx := context.Background()
	cp, err := controlplane.Start(ctx, controlplane.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cp.Stop()

	config, err := clientcmd.BuildConfigFromFlags("", cp.Kubeconfig())
	if err != nil {
		log.Fatal(err)
	}
	namespaces, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, namespace := range namespaces.Items {
		fmt.Println(namespace.Name, namespace.Status.Phase)
	}

	// Output:
	// default Active
	// kube-node-lease Active
	// kube-public Active
	// kube-system Active
}
