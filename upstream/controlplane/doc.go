// Package controlplane starts a genuine Kubernetes control plane on this machine, for tests and by hand: etcd,
// kube-apiserver, kube-controller-manager and, when fake nodes are wanted, kube-scheduler and kwok. No container, no
// virtual machine, no root: child processes on loopback ports, about three seconds, half a gigabyte of memory.
//
//	cp, err := controlplane.Start(ctx, controlplane.Config{FakeNodes: 1, Log: os.Stderr})
//	if err != nil {
//		return err
//	}
//	defer cp.Stop()
//	run("orrery", "run", "--kubeconfig", cp.Kubeconfig())
//
// # Concept
//
// The components are the original ones, compiled from the public Go modules into one binary with a subcommand each
// (cmd/controlplane). This package generates certificates, chooses ports, runs that binary once per component and
// waits until the whole is usable. It imports nothing of Kubernetes itself, so that a test program that uses it links
// in seconds.
//
// By default kube-controller-manager runs without its namespace controller: that is the place for the controller under
// test. A namespace that is deleted meanwhile stays in phase Terminating.
//
// # Guarantees
//
// After [Start] the API server is ready, so are its bootstrap roles, the default namespace has its service account and
// CA bundle, and the fake nodes accept pods. The aggregation layer is on: an APIService that points nowhere makes
// discovery report a failing group, as in a real cluster. Admission policies work. RBAC is on: [ControlPlane.Kubeconfig]
// may do everything, a file from [ControlPlane.KubeconfigFor] only what roles grant.
//
// Everything listens on 127.0.0.1 only, requires a client certificate or a token for anything that matters, and uses
// certificates that exist for this control plane alone. Several control planes can run at the same time.
//
// The server's URL stays the same through [ControlPlane.RestartAPIServer] and [ControlPlane.KillAPIServer] with
// [ControlPlane.StartAPIServer].
//
// # Goroutines
//
// Each component has one goroutine that waits for its end and one that observes it; [ControlPlane.Stop] ends all
// components and returns when no goroutine is left. On Linux the kernel kills the components when the process that
// started them ends without calling Stop. On other systems they then stay behind.
//
// # Failure
//
// Each component prints to a file of its own ([ControlPlane.LogFile]). A component that ends without having been asked
// to closes [ControlPlane.Failed], and [ControlPlane.Err] and Stop report an [ExitError] with the end of its log. A
// start that does not succeed stops what it has started and reports the component that was waited for, the answer it
// gave last, and the end of its log.
//
// Faults can be made on purpose: restart or kill the API server, compact etcd ([ControlPlane.CompactEtcd]), make every
// known resourceVersion too old ([ControlPlane.ForgetHistory]), kill etcd ([ControlPlane.KillEtcd]) or have it begin again with a
// backup, behind its clients ([ControlPlane.RestoreEtcd]), switch the watch cache off
// ([Config.DisableWatchCache]), have pods take their time to vanish ([PodDeletionDelay]).
//
// # Testing
//
// The tests of certificates, kubeconfig files, ports and processes need nothing. Those of the control plane need the
// binary: "make -C upstream controlplane" builds it.
//
// Next: package e2e.
package controlplane
