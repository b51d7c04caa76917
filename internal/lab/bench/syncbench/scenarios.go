package syncbench

import (
	"context"

	"orrery/internal/lab/bench"
)

// Scenarios are the two syncs of the comparison. A textbook client reads JSON only, and so it has the first only.
func Scenarios(subject Subject) []bench.Scenario {
	if own, ok := subject.(orrery); ok && own.textbook {
		return []bench.Scenario{jsonScenario(subject)}
	}
	return []bench.Scenario{jsonScenario(subject), protobufScenario(subject)}
}

// A process that has done nothing else starts an informer on 100,000 pods as metadata (2.7 kB a pod with the managed fields,
// which no cache keeps), and waits until the cache is complete and a handler has been told of each pod. A second process serves them over
// plain HTTP from bytes that were encoded beforehand, in JSON, in the one answer that kube-apiserver gives to a list at
// resource version "0". Processor time is that of the whole client process from the start of the informer on, peak is its
// resident memory, live is the heap after a collection with the cache still there. Both caches must have the digest of
// what the server made up.
func jsonScenario(subject Subject) bench.Scenario { return scenario("sync/json", subject, JSON) }

// The same sync with answers in protobuf, which both clients ask for first. A list is an envelope around one message, with
// a message for each pod; managed fields are JSON texts inside. Peak and live memory are shown without a target.
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
