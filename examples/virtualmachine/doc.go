// Package virtualmachine is a custom controller. It manages machines outside the cluster, one for
// each VirtualMachine object.
//
// "The article" is the one on custom controllers and finalizers; most of its functions keep their
// names.
//
// # Concept
//
// A user creates an object (crd.yaml, testvm.yaml), and the controller creates the machine with a
// driver:
//
//	config.go       NewController, RunWithin, enqueue: which machine gets a pass, and when
//	controller.go   syncHandler and its steps: makePendingPhase, createServer, makeTerminatingPhase, deleteServer
//	status.go       updateUsage, and the conditions of a machine
//
//	None ──▶ Pending ──▶ Active ──────────────▶ Terminating ──▶ gone
//	            └──▶ Failed ◀──▶┘   from all phases, by metadata.deletionTimestamp
//
// The garbage collector of Kubernetes deletes objects, and a machine is not an object. So the
// object gets a finalizer: kubectl delete only marks it, the controller deletes the machine and
// removes the finalizer, and then the server removes the object.
//
// # Guarantees
//
//   - A machine is deleted before its object, wherever the controller was killed, because the
//     finalizer is written before the machine is created.
//   - The controller never creates a machine from its cache alone. A write comes first, and fails
//     if the cache is behind.
//   - Its own status writes cause no pass. A pass every few seconds updates the usage.
//   - When the spec changes, the machine is replaced.
//
// A finalizer that a user removed is written again with the next usage. An object that is deleted
// before that leaves its machine behind.
//
// # Failure
//
// A pass that fails is repeated after 100 ms, 200 ms, and so on up to a minute. The status of a
// machine and an Event have the reason. A driver that hangs blocks one worker for 30 seconds. A
// machine that ends by itself makes the phase Failed, and is created again. A spec that can never
// work makes it Failed as well, and the controller waits for another one.
//
// Next: package virtualmachine/driver
package virtualmachine
