package deletion

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"orrery/internal/lab/bench"
)

// inventory lists a cluster's objects, to compare before with after.
type inventory struct {
	client metadata.Interface
	kinds  []schema.GroupVersionResource
}

// movingKinds change without the test: kube-apiserver renews its lease, and events report what
// others do.
var movingKinds = []string{"leases", "events"}

// newInventory discovers the namespaced kinds, and adds namespaces.
func newInventory(client metadata.Interface, discoverer discovery.DiscoveryInterface) (*inventory, error) {
	lists, err := discoverer.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, err
	}
	kinds := []schema.GroupVersionResource{{Version: "v1", Resource: "namespaces"}}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "list") && !slices.Contains(movingKinds, resource.Name) {
				kinds = append(kinds, gv.WithResource(resource.Name))
			}
		}
	}
	return &inventory{client: client, kinds: kinds}, nil
}

// take returns a line for each object: kind, namespace, name, UID and version.
func (i *inventory) take(ctx context.Context) ([]string, error) {
	var lines []string
	for _, kind := range i.kinds {
		list, err := i.client.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			lines = append(lines, strings.Join([]string{kind.GroupResource().String(), item.Namespace, item.Name, string(item.UID), item.ResourceVersion}, " "))
		}
	}
	return lines, nil
}

// proveUntouched returns a *[bench.ProofError] that lists the differences between two inventories.
func proveUntouched(before, after []string) error {
	then, now := sets.New(before...), sets.New(after...)
	var changes []string
	for _, line := range sets.List(then.Difference(now)) {
		changes = append(changes, "gone: "+line)
	}
	for _, line := range sets.List(now.Difference(then)) {
		changes = append(changes, "new: "+line)
	}
	return bench.Prove("changes of what was not to be touched", "none", cmp.Or(strings.Join(changes, ", "), "none"))
}
