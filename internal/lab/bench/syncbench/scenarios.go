package syncbench

import (
	"context"

	"orrery/internal/lab/bench"
)

// Scenarios returns the two syncs of the comparison, or only the first for a textbook client, which
// reads JSON only.
func Scenarios(subject Subject) []bench.Scenario {
	if own, ok := subject.(orrery); ok && own.textbook {
		return []bench.Scenario{jsonScenario(subject)}
	}
	return []bench.Scenario{jsonScenario(subject), protobufScenario(subject)}
}

// jsonScenario starts an informer of 100,000 pods as metadata in a new process (2.7 kB a pod,
// including managed fields, which no cache keeps), and waits until the cache is complete and every
// pod delivered to a handler. A second process serves them over plain HTTP from encoded JSON, in
// the single response that kube-apiserver gives to a list at resource version "0". Processor time
// is that of the whole client process since the start of the informer, peak its resident memory,
// live the heap after a collection with the cache in use. Both caches must have the digest of the
// generated pods.
func jsonScenario(subject Subject) bench.Scenario { return scenario("sync/json", subject, JSON) }

// protobufScenario is the same sync with protobuf, which both clients prefer. A list is an envelope
// around one message, with a message for each pod; managed fields are JSON texts inside. Peak and
// live memory have no target.
func protobufScenario(subject Subject) bench.Scenario {
	return scenario("sync/protobuf", subject, Protobuf)
}

func scenario(name string, subject Subject, format Format) bench.Scenario {
	return bench.Scenario{Name: name, Fresh: true, Run: func(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
		cfg := Config{Objects: effort.Of(100_000, 20_000), Format: format, Seed: 1}
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
	}}
}
