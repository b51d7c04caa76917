package syncbench

import (
	"context"
	"sync"
	"sync/atomic"

	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	clientfast "orrery/restclient/fast"
)

// Orrery is this project's informer on this project's client, as they are by default, with an index by namespace, which
// client-go's informer for metadata always has.
func Orrery() Subject { return orrery{name: "orrery", codec: clientfast.Codec{}} }

// Textbook is the same of textbook gears. Its client reads JSON only.
func Textbook() Subject {
	return orrery{name: "textbook", codec: restclient.PlainCodec(), textbook: true}
}

type orrery struct {
	name     string
	codec    restclient.Codec
	textbook bool
}

func (o orrery) Name() string { return o.name }

func (o orrery) Start(target Target) (Informer, error) {
	client, err := restclient.New(restclient.Config{Host: target.URL, Codec: o.codec})
	if err != nil {
		return nil, err
	}
	if target.Typed {
		pods := restclient.Typed[*api.Pod](client, api.PodsResource, "")
		return startInformer(client, pods, gearsOf[*api.Pod](o), func(p *api.Pod) *api.ObjectMeta { return &p.ObjectMeta })
	}
	heads := restclient.Metadata(client, api.PodsResource, "")
	return startInformer(client, heads, gearsOf[*api.PartialObjectMetadata](o), func(p *api.PartialObjectMetadata) *api.ObjectMeta { return &p.ObjectMeta })
}

func gearsOf[T informer.Object](o orrery) informer.Gears[T] {
	if o.textbook {
		return informer.Gears[T]{}
	}
	return fast.Gears[T]()
}

// orreryInformer is a running informer for objects of type T.
type orreryInformer[T informer.Object] struct {
	client       *restclient.Client
	informer     *informer.SharedIndexInformer[T]
	registration *informer.Registration
	head         func(T) *api.ObjectMeta
	added        atomic.Int64
	stop         context.CancelFunc
	running      sync.WaitGroup
}

func startInformer[T informer.Object](client *restclient.Client, resource *restclient.Resource[T], gears informer.Gears[T], head func(T) *api.ObjectMeta) (Informer, error) {
	i := &orreryInformer[T]{client: client, head: head}
	i.informer = informer.NewSharedIndexInformer(resource, informer.Config[T]{
		Name:     "pods",
		Gears:    gears,
		Indexers: indexer.Indexers[T]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[T]},
	})
	var err error
	i.registration, err = i.informer.AddEventHandler(informer.ResourceEventHandlerFuncs[T]{
		AddFunc: func(T, bool) { i.added.Add(1) },
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	i.stop = stop
	i.running.Go(func() { _ = i.informer.Run(ctx) })
	return i, nil
}

func (i *orreryInformer[T]) WaitForSync(ctx context.Context) error {
	return informer.WaitForSync(ctx, i.registration)
}

func (i *orreryInformer[T]) Added() int { return int(i.added.Load()) }

func (i *orreryInformer[T]) Each(visit func(Pod) error) error {
	for _, object := range i.informer.GetIndexer().List() {
		if err := visit(podOf(i.head(object))); err != nil {
			return err
		}
	}
	return nil
}

func (i *orreryInformer[T]) Stop() {
	i.stop()
	i.running.Wait()
	i.client.Close()
}

// podOf says in plain data what an object has.
func podOf(m *api.ObjectMeta) Pod {
	pod := Pod{
		Name: m.Name, GenerateName: m.GenerateName, Namespace: m.Namespace,
		UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		Created: m.CreationTimestamp.Unix(), Labels: m.Labels, Annotations: m.Annotations,
	}
	for _, o := range m.OwnerReferences {
		pod.Owners = append(pod.Owners, Owner{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID,
			Controller:         o.Controller != nil && *o.Controller,
			BlockOwnerDeletion: o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion,
		})
	}
	return pod
}
