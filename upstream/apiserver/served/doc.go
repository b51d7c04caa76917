// Package served runs "lab serve", the API server in memory, as a process of its own, with as much of the genuine
// kube-controller-manager beside it as a test wants.
//
// # Concept
//
// [Start] is to the built-in server what controlplane.Start is to the genuine one, and a [Server] is used in the same
// way: it has the kubeconfig file of an administrator, makes others for service accounts, and notices when one of its
// processes dies. What the genuine server does only when it is mistreated (forget history, break connections, ask
// webhooks in vain) this one does on request: see [Server.Add].
//
// # Guarantees
//
// The server is ready when Start returns, and so is what the controllers put into the default namespace.
//
// # Goroutines
//
// One for each process, which ends with it. [Server.Stop] ends them all.
//
// # Failure
//
// A process that ends without having been asked to closes [Server.Failed], and Stop returns a [controlplane.ExitError].
//
// # Testing
//
// The tests need bin/lab and bin/controlplane; "make e2e" in the repository's root builds them.
//
// Next: package e2e, which runs the same scenarios on this server and on the genuine one.
package served
