// Package chaos disturbs informers and "orrery run" on a real control plane, in eight steps, and
// checks that nothing is lost. Package internal/lab/chaos draws many more faults, in virtual time
// on the server in memory.
//
//	make -C upstream chaos               a run of about two minutes
//	make -C upstream chaos DURATION=5m   a longer one
//
// A process of "orrery run" and five informers of this process reach the API server through one link,
// which can be cut. Writers change namespaces and objects directly.
//
//	subjects ── faultnet.Proxy ──┐
//	                             ├── kube-apiserver ── etcd
//	writers and checks ──────────┘
//
// Each step disturbs while the writers write: see steps in run.go. Then the writers stop, and
// within two minutes
//
//   - every deleted namespace is gone, and so is every object of it;
//   - every informer's store equals what client-go lists, by UID and resourceVersion;
//   - every handler saw a valid history that ends in that state;
//   - orrery is ready, has few goroutines and open files, has logged no error, and has not ended by
//     itself.
//
// At the end orrery exits in time and with success, and the informers leave no goroutine, watch,
// request or connection.
//
// Orrery runs without an election, so that nothing excuses an exit. The election has tests in
// package e2e.
package chaos
