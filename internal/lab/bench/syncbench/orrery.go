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

// Orrery returns this project's default informer and client, with an index by namespace, which
// client-go's metadata informer always has.
func Orrery() Subject { return orrery{name: "fast", codec: clientfast.Codec{}} }

// Textbook returns the same with textbook gears and the textbook decoder.
func Textbook() Subject {
	return orrery{name: "textbook", codec: restclient.PlainCodec(), textbook: true}
}

type orrery struct {
	name     string
	codec    restclient.Codec
	textbook bool
}

func (o orrery) Name() string { return o.name }

type object = *api.PartialObjectMetadata

// orreryInformer is a running informer.
type orreryInformer struct {
	client       *restclient.Client
	informer     *informer.SharedIndexInformer[object]
	registration *informer.Registration
	added        atomic.Int64
	stop         context.CancelFunc
	running      sync.WaitGroup
}

func (o orrery) Start(url string) (Informer, error) {
	client, err := restclient.New(restclient.Config{Host: url, Codec: o.codec})
	if err != nil {
		return nil, err
	}
	gears := fast.Gears[object]()
	if o.textbook {
		gears = informer.Gears[object]{}
	}
	i := &orreryInformer{client: client}
	i.informer = informer.NewSharedIndexInformer(restclient.Metadata(client, api.PodsResource, ""), informer.Config[object]{
		Name:     "pods",
		Gears:    gears,
		Indexers: indexer.Indexers[object]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[object]},
	})
	i.registration, err = i.informer.AddEventHandler(informer.ResourceEventHandlerFuncs[object]{
		AddFunc: func(object, bool) { i.added.Add(1) },
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	i.stop = stop
	i.running.Go(func() { _ = i.informer.Run(ctx) })
	return i, nil
}

func (i *orreryInformer) WaitForSync(ctx context.Context) error {
	return informer.WaitForSync(ctx, i.registration)
}

func (i *orreryInformer) Added() int { return int(i.added.Load()) }

func (i *orreryInformer) Each(visit func(*api.ObjectMeta) error) error {
	for _, head := range i.informer.GetIndexer().List() {
		if err := visit(&head.ObjectMeta); err != nil {
			return err
		}
	}
	return nil
}

func (i *orreryInformer) Stop() {
	i.stop()
	i.running.Wait()
	i.client.Close()
}
