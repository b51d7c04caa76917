// Package virtualmachine is a controller of one's own: machines outside the cluster, one for each
// VirtualMachine object.
//
// "The article" is the one on custom controllers and finalizers; its functions keep their names.
//
// # Concept
//
// A user writes an object (crd.yaml, testvm.yaml), and the controller makes a machine of it with a
// driver:
//
//	controller.go   RunWithin, enqueue, runWorker, processNextWorkItem: which machine is looked at, and when
//	sync.go         syncHandler: in which phase is it, and what is the next step
//	phases.go       the steps: makePendingPhase, createServer, updateUsage, makeTerminatingPhase, deleteServer
//
//	None ──▶ Pending ──▶ Active ──────────────▶ Terminating ──▶ gone
//	            └──▶ Failed ◀──▶┘   from all phases, by metadata.deletionTimestamp
//
// The garbage collector of Kubernetes deletes objects, and a machine is none. So the object has a
// finalizer: kubectl delete only marks it, the controller deletes the machine and takes the
// finalizer away, and then the server removes the object.
//
// # Guarantees
//
//   - A machine is deleted before its object goes, wherever the controller was killed: the
//     finalizer is written before it is created.
//   - Nothing is done outside the server by the word of the cache alone: a write comes first, which
//     fails if the cache is behind.
//   - A status that the controller wrote itself causes no pass. The usage of a machine is looked at
//     every few seconds.
//   - When the spec changes, the machine is replaced.
//
// A finalizer that was removed by hand is written again when the usage is looked at. An object that
// goes before that leaves its machine behind.
//
// # Goroutines
//
// RunWithin has one for each worker, and has ended them when it returns.
//
// # Failure
//
// A pass that fails is repeated after 100 ms, 200 ms, and so on up to a minute. What is wrong with
// a machine is in its status and in an Event. A driver that hangs holds up one worker for 30
// seconds. A spec that the driver refuses, and a machine that ends by itself, make the phase
// Failed; the controller tries again.
//
// # Testing
//
// The tests run over the API server in memory in a synctest bubble. One of them kills the
// controller between every two calls to server and driver.
//
// Next: package virtualmachine/driver
package virtualmachine
