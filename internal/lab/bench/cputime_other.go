//go:build !unix

package bench

import (
	"runtime/metrics"
	"time"
)

// cpuTime is what Go's own accounting says the process has used so far. It is brought up to date by the garbage
// collector only, so for short work it says little.
func cpuTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(sample)
	return time.Duration((sample[0].Value.Float64() - sample[1].Value.Float64()) * float64(time.Second))
}
