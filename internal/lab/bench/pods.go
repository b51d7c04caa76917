package bench

import (
	"fmt"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// Pod is what a benchmark knows of an object: name, number and size. Each subject makes its own
// type of object from it, with the same fields and content. Objects share no strings except their
// labels.
type Pod struct {
	Namespace, Name string
	// Number identifies an object and its state within a run.
	Number int64
	// Payload is the size in bytes beyond the head's usual fields.
	Payload int
}

// PodLabels are the labels of every object. They are shared, since no benchmark reads them.
var PodLabels = map[string]string{"app": "web", "pod-template-hash": "7c5ddbdf54"}

// PayloadAnnotation is the annotation with the payload.
const PayloadAnnotation = "orrery.example/payload"

// MakePods returns n pods, numbered from 0, in namespaces of equal size. Neighbours are in the same
// namespace.
func MakePods(n, namespaces int) []Pod {
	all := make([]Pod, n)
	for i := range all {
		all[i] = Pod{
			Namespace: PodNamespace(i * namespaces / n),
			Name:      fmt.Sprintf("web-7c5ddbdf54-%05d", i),
			Number:    int64(i),
		}
	}
	return all
}

// PodNamespace returns the name of the i-th namespace.
func PodNamespace(i int) string { return fmt.Sprintf("namespace-%03d", i) }

// As returns the pod in another state, with the given number.
func (p Pod) As(number int64) Pod {
	p.Number = number
	return p
}

// Key returns "namespace/name".
func (p Pod) Key() string { return p.Namespace + "/" + p.Name }

// UID is the same for all states of the pod.
func (p Pod) UID() string { return "0f9d2c34-5a1b-4c1e-9d55-" + p.Name[len(p.Name)-5:] }

// ResourceVersion is different for each state.
func (p Pod) ResourceVersion() string { return strconv.FormatInt(p.Number+1, 10) }

// Annotations are the object's annotations: none, or one as large as the payload.
func (p Pod) Annotations() map[string]string {
	if p.Payload <= 0 {
		return nil
	}
	return map[string]string{PayloadAnnotation: strings.Repeat("x", p.Payload)}
}

// Metadata returns the pod as this project's type.
func (p Pod) Metadata() *api.PartialObjectMetadata {
	return &api.PartialObjectMetadata{
		TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: api.ObjectMeta{
			Namespace:       strings.Clone(p.Namespace),
			Name:            strings.Clone(p.Name),
			UID:             p.UID(),
			ResourceVersion: p.ResourceVersion(),
			Generation:      p.Number,
			Labels:          PodLabels,
			Annotations:     p.Annotations(),
		},
	}
}
