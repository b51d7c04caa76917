package syncbench

import (
	"context"

	"orrery/internal/lab/bench"
)

// Scenarios returns the sync of the comparison. It starts an informer of 100,000 pods as metadata
// in a new process (2.7 kB a pod, including managed fields, which no cache keeps), and waits until
// the cache is complete and every pod delivered to a handler. A second process serves them over
// plain HTTP from encoded JSON, in the single response that kube-apiserver gives to a list at
// resource version "0". Processor time is that of the whole client process since the start of the
// informer, peak its resident memory, live the heap after a collection with the cache in use. Both
// caches must have the digest of the generated pods.
func Scenarios(subject Subject) []bench.Scenario {
	run := func(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
		cfg := Config{Objects: effort.Of(100_000, 20_000), Seed: 1}
		m, err := measure(ctx, subject, cfg, meter)
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
	return []bench.Scenario{{Name: "sync/json", Fresh: true, Run: run}}
}
