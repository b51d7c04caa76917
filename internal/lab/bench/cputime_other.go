//go:build !unix

package bench

import (
	"runtime/metrics"
	"time"
)

// cpuTime returns the CPU time used by the process according to the Go runtime. The garbage
// collector alone updates it, so it is coarse for short work.
func cpuTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(sample)
	return time.Duration((sample[0].Value.Float64() - sample[1].Value.Float64()) * float64(time.Second))
}
