// Package virtualmachine is a controller of one's own: machines outside the cluster, one for each VirtualMachine object.
//
// "The article" is the one on custom controllers and finalizers; its functions keep their names. docs/learn has this package in
// steps, from an empty file on.
//
// # Concept
//
// A user writes an object (crd.yaml, testvm.yaml), and the controller makes a machine of it with a [Driver]. The controller is an
// informer, a queue and workers, on two pages:
//
//	controller.go   RunWithin, enqueue, runWorker, processNextWorkItem: which machine is looked at, and when
//	sync.go         syncHandler: in which phase is it, and what is the next step
//	phases.go       the steps: makePendingPhase, createServer, updateUsage, makeTerminatingPhase, deleteServer
//
//	None ──▶ Pending ──▶ Active ──▶ Terminating ──▶ (gone)
//	            │  ▲        │            ▲
//	            ▼  │        ▼            │ metadata.deletionTimestamp, from any phase
//	            Failed ◀────┘ ───────────┘
//
// The garbage collector of Kubernetes deletes objects, and a machine is none. So the object has a finalizer: kubectl delete only
// marks it, the controller deletes the machine and takes the finalizer away, and then the server removes the object.
//
// # Guarantees
//
//   - A machine that this controller created is deleted before its object goes, wherever the controller was killed. The finalizer
//     is written before the machine is created.
//   - Nothing is done outside the server by the word of the cache alone: a write comes first, which fails if the cache is behind.
//   - A status that the controller wrote itself causes no pass. The usage of a machine is looked at every few seconds.
//   - A machine is looked at by one worker at a time.
//   - When the spec changes, the machine is replaced.
//
// Whoever empties metadata.finalizers by hand while the machine exists leaves it behind.
//
// # Goroutines
//
// RunWithin has one for each worker, and has ended them when it returns.
//
// # Failure
//
// A pass that fails is repeated after 100 ms, 200 ms, and so on up to a minute. What is wrong with a machine is in its status
// (status.reason) and in an Event. A driver that hangs has 30 seconds, and holds up one worker for that long. A driver that refuses
// a spec ([RefusedError]), and a machine that ends by itself, make the phase Failed; the controller tries again.
//
// # Testing
//
// The tests run over the API server in memory in a synctest bubble, with drivers that fail, hang and are cut off. One of them kills
// the controller between every two calls to server and driver.
//
// Next: package virtualmachine/driver
package virtualmachine
