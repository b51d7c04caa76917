package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	nodestages "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podstages "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	kwokclient "sigs.k8s.io/kwok/pkg/utils/client"
	"sigs.k8s.io/yaml"

	"orrery/upstream/controlplane"
)

// Defaults of the kwok program.
const (
	kwokParallelism      = 4
	kwokNodeLeaseSeconds = 40
)

// runKwok plays the kubelets of some nodes: it creates the nodes and runs kwok's controllers, which
// keep nodes and pods in the states that kubelets would report. kwok's own command adds a server
// for logs and exec, two thirds of its code.
func runKwok() int {
	flags := pflag.NewFlagSet("kwok", pflag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig file for the API server")
	nodes := flags.Int("nodes", 1, "number of fake nodes to create; nodes that exist already are taken over")
	_ = flags.Parse(os.Args[1:]) // ExitOnError

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx = kwoklog.NewContext(ctx, kwoklog.NewLogger(os.Stderr, kwoklog.LevelInfo))
	if err := playNodes(ctx, *kubeconfig, *nodes); err != nil {
		fmt.Fprintf(os.Stderr, "kwok: %v\n", err)
		return 1
	}
	return 0
}

func playNodes(ctx context.Context, kubeconfig string, nodes int) error {
	config, err := kwokConfig(kubeconfig)
	if err != nil {
		return err
	}
	controller, err := controllers.NewController(config)
	if err != nil {
		return err
	}
	if err := controller.Start(ctx); err != nil {
		return err
	}
	for i := range nodes {
		if err := createNode(ctx, config.TypedClient, fmt.Sprintf("fake-node-%d", i)); err != nil {
			return fmt.Errorf("create fake node %d: %w", i, err)
		}
	}
	<-ctx.Done()
	return nil
}

func kwokConfig(kubeconfig string) (controllers.Config, error) {
	var none controllers.Config
	stages, err := loadStages()
	if err != nil {
		return none, err
	}
	id, err := controllers.Identity()
	if err != nil {
		return none, err
	}
	// kwok's own clients include the dynamic and impersonating ones, without a rate limit.
	clients, err := kwokclient.NewClientset("", kubeconfig)
	if err != nil {
		return none, err
	}
	dynamicClient, err := clients.ToDynamicClient()
	if err != nil {
		return none, err
	}
	mapper, err := clients.ToRESTMapper()
	if err != nil {
		return none, err
	}
	restConfig, err := clients.ToRESTConfig()
	if err != nil {
		return none, err
	}
	restClient, err := rest.RESTClientFor(restConfig)
	if err != nil {
		return none, err
	}
	typedClient, err := typedClient(kubeconfig)
	if err != nil {
		return none, err
	}
	return controllers.Config{
		Clock:                      clock.RealClock{},
		DynamicClient:              dynamicClient,
		RESTClient:                 restClient,
		RESTMapper:                 mapper,
		ImpersonatingDynamicClient: clients.ToImpersonatingDynamicClient(),
		ImpersonatingTypedClient:   clients.ToImpersonatingTypedClient(),
		TypedClient:                typedClient,
		ManageAllNodes:             true,
		LocalStages:                stages,
		CIDR:                       "10.1.0.0/16",
		NodeIP:                     "127.0.0.1",
		PodPlayStageParallelism:    kwokParallelism,
		NodePlayStageParallelism:   kwokParallelism,
		NodeLeaseParallelism:       kwokParallelism,
		PodsOnNodeSyncParallelism:  1,
		NodeLeaseDurationSeconds:   kwokNodeLeaseSeconds,
		ID:                         id,
	}, nil
}

func typedClient(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // this process stands for many kubelets
	return kubernetes.NewForConfig(config)
}

// loadStages returns the stages in kwok's module by kind of object.
func loadStages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	stages := make(map[internalversion.StageResourceRef][]*internalversion.Stage)
	for _, text := range []string{
		nodestages.DefaultNodeInit,
		podstages.DefaultPodReady,
		podstages.DefaultPodComplete,
		podstages.DefaultPodDelete,
	} {
		var stage v1alpha1.Stage
		if err := yaml.UnmarshalStrict([]byte(text), &stage); err != nil {
			return nil, fmt.Errorf("read a stage: %w", err)
		}
		if text == podstages.DefaultPodDelete {
			delayDeletion(&stage)
		}
		internal, err := internalversion.ConvertToInternalStage(&stage)
		if err != nil {
			return nil, fmt.Errorf("convert stage %s: %w", stage.Name, err)
		}
		stages[internal.Spec.ResourceRef] = append(stages[internal.Spec.ResourceRef], internal)
	}
	return stages, nil
}

// delayDeletion lets a pod's annotation set how long the pod takes to vanish, as kwok's other pod
// stages do. Those are not embedded in kwok's packages, and their pods take seconds to start.
func delayDeletion(stage *v1alpha1.Stage) {
	var immediately int64
	stage.Spec.Delay = &v1alpha1.StageDelay{
		DurationMilliseconds: &immediately,
		DurationFrom: &v1alpha1.ExpressionFrom{
			JQ: &v1alpha1.ExpressionJQ{Expression: fmt.Sprintf(".metadata.annotations[%q]",
				controlplane.PodDeletionDelay)},
		},
	}
}

// createNode creates a node and removes the taint of every new node. In a real cluster the node
// lifecycle controller, which usually does not run here, does that.
func createNode(ctx context.Context, client kubernetes.Interface, name string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name,
		Labels: map[string]string{
			corev1.LabelHostname:   name,
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: "amd64",
			"type":                 "kwok",
		},
	}}
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
			return taint.Key == corev1.TaintNodeNotReady
		})
		_, err = client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
