package bench

import "runtime/metrics"

// heapInUse returns the bytes of heap that hold objects, dead ones that were not collected yet included. Unlike
// runtime.ReadMemStats it does not stop the world.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
