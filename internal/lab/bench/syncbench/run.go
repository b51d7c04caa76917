// Package syncbench measures the first sync of an informer: the processor time, memory and time
// until a new process has all pods of a large cluster in its cache. A server in a process of its
// own holds the pods of a generated cluster, already encoded, so answering costs next to nothing. A
// [Subject] starts an informer on it with a counting handler, and the workload waits until cache
// and handler have everything. The clients ask for metadata only (PartialObjectMetadata), as
// garbage collector and namespace controller do. The server behaves like kube-apiserver 1.36 with
// one exception: it refuses streaming lists, so both this project and client-go 0.36 fall back to a
// plain list. client-go needs more than twice the processor time for a stream, so the list is the
// harder comparison. A result is verified: the digest of the cached objects, without managed fields
// and order, must equal that of the generated pods; a difference is a [*bench.ProofError].
package syncbench

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
	"orrery/restclient/api"
)

// Run syncs once and returns the cost for this process.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	m, err := measure(ctx, subject, *cfg, meter)
	if err != nil {
		return nil, err
	}
	n := float64(cfg.Objects)
	return &bench.Result{
		Figures: []bench.Figure{
			{Name: "synced", Unit: bench.PerSecond, Value: n / m.usage.Elapsed.Seconds(), Better: bench.Higher},
			{Name: "time to sync", Unit: bench.Seconds, Value: m.usage.Elapsed.Seconds(), Better: bench.Lower},
			{Name: "processor time", Unit: bench.Seconds, Value: m.usage.CPU.Seconds(), Better: bench.Lower},
			{Name: "peak memory", Unit: bench.Bytes, Value: float64(m.peak), Better: bench.Lower},
			{Name: "live heap", Unit: bench.Bytes, Value: float64(m.live), Better: bench.Lower},
			{Name: "allocations per object", Unit: bench.Count, Value: float64(m.usage.Allocs) / n, Better: bench.Lower},
			{Name: "allocated per object", Unit: bench.Bytes, Value: float64(m.usage.Bytes) / n, Better: bench.Lower},
			{Name: "bytes received", Unit: bench.Bytes, Value: float64(m.received), Better: bench.Lower},
		},
		Proof: []string{m.proof},
	}, nil
}

// measurement is one verified sync.
type measurement struct {
	usage    bench.Usage
	peak     uint64 // resident memory, bytes
	live     uint64 // heap after a collection, bytes
	received int    // size of the server's list, bytes
	proof    string
}

func measure(ctx context.Context, subject Subject, cfg Config, meter *bench.Meter) (*measurement, error) {
	meter.Begin("starting the server", 0)
	server, err := startServer(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer server.stop()

	meter.Begin("syncing", 0)
	m := &measurement{received: server.hello.Bytes}
	bench.ResetPeakMemory()
	var informer Informer
	m.usage = bench.Measure(func() {
		if informer, err = subject.Start(server.hello.URL); err != nil {
			return
		}
		err = informer.WaitForSync(ctx)
	})
	if informer != nil {
		defer informer.Stop()
	}
	if err != nil {
		return nil, fmt.Errorf("%s did not sync: %w", subject.Name(), err)
	}
	_, m.peak = bench.ResidentMemory()
	m.live = bench.LiveHeap()

	meter.Begin("comparing", 0)
	m.proof, err = prove(ctx, informer, server.hello.Digest)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// prove compares the cache and the handler's count with the server's pods.
func prove(ctx context.Context, informer Informer, want Digest) (string, error) {
	var got Digest
	err := informer.Each(func(head *api.ObjectMeta) error {
		got.Add(*head)
		return ctx.Err()
	})
	if err != nil {
		return "", err
	}
	if err := bench.Prove("pods in the cache", want.Pods, got.Pods); err != nil {
		return "", err
	}
	if err := bench.Prove("pods delivered to the handler", want.Pods, informer.Added()); err != nil {
		return "", err
	}
	if err := bench.Prove("digest of the cache", want.String(), got.String()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d pods in the cache and delivered to the handler, digest %s", got.Pods, got), nil
}

// Subject is a client with an informer.
type Subject interface {
	// Name is the name in results: "fast".
	Name() string
	// Start starts an informer with a counting handler for the metadata of all pods of the server
	// at url.
	Start(url string) (Informer, error)
}

// Informer is a running informer.
type Informer interface {
	// WaitForSync blocks until the cache has the initial list and the handler has received all of
	// it.
	WaitForSync(ctx context.Context) error
	// Added returns the number of additions that the handler received.
	Added() int
	// Each calls visit for each cached object until it returns an error.
	Each(visit func(*api.ObjectMeta) error) error
	// Stop stops the informer and waits for it.
	Stop()
}

// Config holds the flags of "lab bench sync", and configures the server.
type Config struct {
	// Objects is the number of pods.
	Objects int
	// ObjectSize is the size in bytes of a pod's head in JSON. An annotation pads the head, so it
	// cannot be smaller than it is. 0: no padding, about 2.7 kB.
	ObjectSize int
	// Seed is the seed of the generator.
	Seed uint64
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Objects, "objects", 100_000, 1, 5_000_000, "how many pods the server has")
	bench.SizeVar(flags, &c.ObjectSize, "object-size",
		"the size of a pod's head in JSON; 0: its usual size, about 2.7 kB")
	flags.Uint64Var(&c.Seed, "seed", 1, "seed of the pods; the same seed makes the same pods")
}

// Scenarios returns the sync of the comparison. It starts an informer of 100,000 pods as metadata
// in a new process (2.7 kB a pod, including managed fields, which no cache keeps), and waits until
// the cache is complete and every pod delivered to a handler. A second process serves them over
// plain HTTP from encoded JSON, in the single response that kube-apiserver gives to a list at
// resource version "0". Processor time is that of the whole client process since the start of the
// informer, peak its resident memory, live the heap after a collection with the cache in use. Both
// caches must have the digest of the generated pods.
func Scenarios(subject Subject) []bench.Scenario {
	run := func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		cfg := Config{Objects: effort.Of(100_000, 20_000), Seed: 1}
		m, err := measure(ctx, subject, cfg, nil)
		if err != nil {
			return bench.Outcome{}, err
		}
		const mib = 1 << 20
		return bench.Outcome{
			Figures: map[string]float64{
				"cpu s":     m.usage.CPU.Seconds(),
				"wall s":    m.usage.Elapsed.Seconds(),
				"peak MiB":  float64(m.peak) / mib,
				"live MiB":  float64(m.live) / mib,
				"allocs/op": float64(m.usage.Allocs) / float64(cfg.Objects),
			},
			Proof: m.proof,
		}, nil
	}
	return []bench.Scenario{{Name: "sync/json", Run: run}}
}
