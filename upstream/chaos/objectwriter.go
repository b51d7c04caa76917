package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// objectWriter creates, changes, deletes and recreates objects of one type in the steady namespace.
type objectWriter struct {
	writers *writers
	gvr     schema.GroupVersionResource
	number  int
}

func (o *objectWriter) write(ctx context.Context, dice *rand.Rand) time.Duration {
	resource := o.writers.cluster.client.Resource(o.gvr).Namespace(steadyNamespace)
	name := fmt.Sprintf("object-%d-%d", o.number, dice.IntN(objectsEach))
	var err error
	switch dice.IntN(8) {
	case 0:
		err = resource.Delete(ctx, name, metav1.DeleteOptions{})
	case 1: // a deletion directly followed by a creation
		if err = resource.Delete(ctx, name, metav1.DeleteOptions{}); err == nil {
			_, err = resource.Create(ctx, newObject(o.gvr, name, "", nil), metav1.CreateOptions{})
		}
	default:
		_, err = resource.Patch(ctx, name, types.MergePatchType, patchOfValue(dice), metav1.PatchOptions{})
		if apierrors.IsNotFound(err) {
			_, err = resource.Create(ctx, newObject(o.gvr, name, "", nil), metav1.CreateOptions{})
		}
	}
	o.writers.record(err)
	return time.Duration(dice.Int64N(int64(2 * objectPause)))
}

// kinds are the kinds of the written types.
var kinds = map[schema.GroupVersionResource]string{
	configMaps: "ConfigMap", secrets: "Secret", pods: "Pod", widgets: "Widget", gears: "Gear",
}

// newObject returns an object of one of these types. owner is the UID of its namespace, or "".
func newObject(gvr schema.GroupVersionResource, name, owner string, finalizers []string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: document{
		"apiVersion": strings.TrimPrefix(gvr.Group+"/"+gvr.Version, "/"), "kind": kinds[gvr],
		"metadata": document{"name": name},
	}}
	if owner != "" {
		object.SetLabels(map[string]string{ownerLabel: owner})
	}
	object.SetFinalizers(finalizers)
	switch gvr {
	case configMaps:
		object.Object["data"] = document{"key": "value"}
	case pods:
		object.Object["spec"] = document{"containers": []any{document{"name": "c", "image": "none"}}}
	}
	return object
}
