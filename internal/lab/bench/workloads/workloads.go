// Package workloads has the work that gears are measured by: queue, dispatch, fifo, store and sync.
// A workload is written once, against a small interface; a subject is one of this project's gears
// here, or an adapter to another library in the module upstream. Run functions have the parameters
// that the user of "lab bench" chose, and run [bench.Driver]'s two phases. Scenarios are the fixed
// pieces of work of the comparison with client-go. The driving code is the same for all subjects,
// and objects are made before the clock starts. Figures are returned only for work that was proven;
// everything else is a [*bench.ProofError].
//
// A queue must hand out every key after its last Add, and never to two workers at once. Between a
// fake watch and the handlers, every handler checks that it gets all events, in order for each
// object. A FIFO must hand out every event once. A store and its index must show every object in
// the state written last. After the first sync, the cache must equal what the server has.
package workloads

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"orrery/indexer"
	"orrery/informer"
	"orrery/internal/lab/bench"
	"orrery/restclient/api"
)

// Subject is a FIFO or a store to be measured, with objects of its own type.
type Subject[C any] interface {
	// Name is the name in reports.
	Name() string
	// Run measures the subject with the given flags.
	Run(ctx context.Context, cfg *C, meter *bench.Meter) (*bench.Result, error)
	// Scenarios returns the pieces of work on which subjects are compared.
	Scenarios() []bench.Scenario
}

// Run measures a FIFO or a store.
func Run[C any](
	ctx context.Context, subject Subject[C], cfg *C, meter *bench.Meter,
) (*bench.Result, error) {
	return subject.Run(ctx, cfg, meter)
}

// Pod is what a workload knows of an object: name and number. Each subject makes its own type of
// object from it, with the same fields and content. Objects share no strings except their labels.
type Pod struct {
	Namespace, Name string
	// Number identifies an object and its state within a run.
	Number int64
}

// PodLabels are the labels of every object. They are shared, since no benchmark reads them.
var PodLabels = map[string]string{"app": "web", "pod-template-hash": "7c5ddbdf54"}

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
		},
	}
}

// Objects makes and reads the objects of a FIFO or a store.
type Objects[T any] struct {
	// New makes an object; Number and Key return what the Pod that it was made from has.
	New    func(Pod) T
	Number func(T) int64
	Key    func(T) string
}

// All returns the objects of pods.
func (o Objects[T]) All(pods []Pod) []T {
	objects := make([]T, len(pods))
	for i, p := range pods {
		objects[i] = o.New(p)
	}
	return objects
}

type object = *api.PartialObjectMetadata

// ourObjects are the objects of this project's gears.
var ourObjects = Objects[object]{
	New:    Pod.Metadata,
	Number: func(obj object) int64 { return obj.Generation },
	Key:    func(obj object) string { return obj.Namespace + "/" + obj.Name },
}

// keyed has the keys and the index of this project's stores.
var keyed = indexer.Config[object]{
	KeyFunc:  informer.MetaNamespaceKeyFunc[object],
	Indexers: indexer.Indexers[object]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[object]},
}
