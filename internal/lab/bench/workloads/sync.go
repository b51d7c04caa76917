package workloads

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"

	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/fast"
	"orrery/internal/lab/bench"
	"orrery/restclient"
	"orrery/restclient/api"
	clientfast "orrery/restclient/fast"
)

// RunSync syncs once and returns the cost for this process.
func RunSync(ctx context.Context, subject SyncSubject, cfg *SyncConfig, meter *bench.Meter) (*bench.Result, error) {
	meter.Begin("starting the server")
	url, stop, err := startServer(ctx, cfg.Objects)
	if err != nil {
		return nil, err
	}
	defer stop()

	meter.Begin("syncing")
	bench.ResetPeakMemory()
	var informer *SyncInformer
	usage := bench.Measure(func() {
		if informer, err = subject.Start(url); err != nil {
			return
		}
		select {
		case <-informer.Synced:
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	if informer != nil {
		defer informer.Stop()
	}
	if err != nil {
		return nil, fmt.Errorf("%s did not sync: %w", subject.Name(), err)
	}
	_, peak := bench.ResidentMemory()
	live := bench.LiveHeap()

	meter.Begin("comparing")
	proof, err := proveSync(ctx, informer, cfg.Objects)
	if err != nil {
		return nil, err
	}
	n, took := float64(cfg.Objects), usage.Elapsed.Seconds()
	lower := func(name, unit string, value float64) bench.Figure {
		return bench.Figure{Name: name, Unit: unit, Value: value, Better: bench.Lower}
	}
	return &bench.Result{
		Figures: []bench.Figure{
			{Name: "synced", Unit: bench.PerSecond, Value: n / took, Better: bench.Higher},
			lower("time to sync", bench.Seconds, took),
			lower("processor time", bench.Seconds, usage.CPU.Seconds()),
			lower("peak memory", bench.Bytes, float64(peak)),
			lower("live heap", bench.Bytes, float64(live)),
			lower("allocations per object", bench.Count, float64(usage.Allocs)/n),
			lower("allocated per object", bench.Bytes, float64(usage.Bytes)/n),
		},
		Proof: []string{proof},
	}, nil
}

// proveSync compares the cache with the server's pods, which it generates once more, and the
// handler's count.
func proveSync(ctx context.Context, informer *SyncInformer, n int) (string, error) {
	missing := make(map[string]podHash, n)
	generate(n, func(_ []byte, head *api.ObjectMeta) { missing[head.Name] = kept(*head) })
	pods, wrong := 0, 0
	err := informer.Each(func(head *api.ObjectMeta) error {
		pods++
		if want, ok := missing[head.Name]; !ok || want != kept(*head) {
			wrong++
		}
		delete(missing, head.Name)
		return ctx.Err()
	})
	return fmt.Sprintf("%d pods in the cache, each as the server has it, and delivered to the handler", pods), cmp.Or(
		err,
		bench.Prove("pods in the cache", n, pods),
		bench.Prove("pods that differ from the server's", 0, wrong),
		bench.Prove("pods missing in the cache", 0, len(missing)),
		bench.Prove("pods delivered to the handler", int64(n), informer.Added.Load()),
	)
}

// podHash stands for a pod: a million pods as text would take a gigabyte.
type podHash [sha256.Size]byte

// kept returns the hash of everything that a cache keeps of a pod, so not of the managed fields.
func kept(head api.ObjectMeta) podHash {
	head.ManagedFields = api.ManagedFields{}
	text, err := json.Marshal(head)
	if err != nil {
		panic(err) // cannot fail for generated pods
	}
	return sha256.Sum256(text)
}

// SyncSubject is a client with an informer.
type SyncSubject interface {
	// Name is the name in results: "fast".
	Name() string
	// Start starts an informer with a counting handler for the metadata of all pods of the server
	// at url.
	Start(url string) (*SyncInformer, error)
}

// SyncInformer is a running informer.
type SyncInformer struct {
	// Synced is closed when the cache has the initial list and the handler has received all of it.
	Synced <-chan struct{}
	// Added counts the additions that the handler received.
	Added *atomic.Int64
	// Each calls visit for each cached object until it returns an error.
	Each func(visit func(*api.ObjectMeta) error) error
	// Stop stops the informer and waits for it.
	Stop func()
}

// SyncConfig holds the flags of "lab bench sync".
type SyncConfig struct {
	// Objects is the number of pods. The head of one has about 2.7 kB in JSON.
	Objects int
}

// AddTo adds a flag for each field.
func (c *SyncConfig) AddTo(flags *pflag.FlagSet) {
	bench.NumberVar(flags, &c.Objects, "objects", 100_000, 1, 5_000_000, "how many pods the server has")
}

// SyncScenarios returns the sync of the comparison, in a new process. Processor time is that of the
// whole client process since the start of the informer, peak its resident memory, live the heap
// after a collection with the cache in use.
func SyncScenarios(subject SyncSubject) []bench.Scenario {
	run := func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		cfg := &SyncConfig{Objects: effort.Of(100_000, 20_000)}
		result, err := RunSync(ctx, subject, cfg, nil)
		if err != nil {
			return bench.Outcome{}, err
		}
		figures := map[string]float64{}
		for name, from := range map[string]string{
			"cpu s": "processor time", "peak MiB": "peak memory", "live MiB": "live heap",
		} {
			figure, _ := result.Figure(from)
			if figures[name] = figure.Value; figure.Unit == bench.Bytes {
				figures[name] /= 1 << 20
			}
		}
		return bench.Outcome{Figures: figures, Proof: result.Proof[0]}, nil
	}
	return []bench.Scenario{{Name: "sync/json", Run: run}}
}

// SyncSubjects returns this project's clients. The first is the default.
func SyncSubjects() []SyncSubject { return []SyncSubject{FastSync(), TextbookSync()} }

// FastSync returns this project's default informer and client, with an index by namespace, which
// client-go's metadata informer always has.
func FastSync() SyncSubject { return ourSync{name: "fast", codec: clientfast.Codec{}} }

// TextbookSync returns the same with textbook gears and the textbook decoder.
func TextbookSync() SyncSubject {
	return ourSync{name: "textbook", codec: restclient.PlainCodec(), textbook: true}
}

type ourSync struct {
	name     string
	codec    restclient.Codec
	textbook bool
}

func (o ourSync) Name() string { return o.name }

func (o ourSync) Start(url string) (*SyncInformer, error) {
	client, err := restclient.New(restclient.Config{Host: url, Codec: o.codec})
	if err != nil {
		return nil, err
	}
	gears := fast.Gears[object]()
	if o.textbook {
		gears = informer.Gears[object]{}
	}
	pods := informer.NewSharedIndexInformer(restclient.Metadata(client, api.PodsResource, ""),
		informer.Config[object]{
			Name: "pods", Gears: gears,
			Indexers: indexer.Indexers[object]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[object]},
		})
	added := new(atomic.Int64)
	registration, err := pods.AddEventHandler(informer.ResourceEventHandlerFuncs[object]{
		AddFunc: func(object, bool) { added.Add(1) },
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = pods.Run(ctx) })
	each := func(visit func(*api.ObjectMeta) error) error {
		for _, head := range pods.GetIndexer().List() {
			if err := visit(&head.ObjectMeta); err != nil {
				return err
			}
		}
		return nil
	}
	return &SyncInformer{Synced: registration.Synced(), Added: added, Each: each, Stop: func() {
		stop()
		running.Wait()
		client.Close()
	}}, nil
}
