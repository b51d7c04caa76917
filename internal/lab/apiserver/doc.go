// Package apiserver is a Kubernetes API server in memory, for demos, labs and tests.
//
// # Concept
//
// kube-apiserver is a web server in front of a versioned store. This package is the web server: it listens, finds out who
// asks ([authn.User]), reads the path, agrees on a form for the answer, and hands the request to package registry, which
// knows the verbs, which hands it to package store, which knows the versions. What comes back are bytes that the store
// encoded once, when the object was written; they are sent as they are, to whoever asks, in answers and in watch events.
//
//	request -> panics -> log -> authn -> faults -> path -> resource | watch | discovery | openapi | health | debug
//	                                                          |         |
//	                                                          registry -+-> store
//
// [New] makes a [Server], [Server.Start] lets it listen, [Server.Kubeconfig] is what a client needs, [Server.Stop] ends
// it. docs/apiserver.md is the tour with file names, the faults and the deliberate gaps.
//
// # Guarantees
//
// What kube-apiserver answers with a Status, this server answers with the same code, reason and message. All writes
// are in one order, the one of their resource versions, and every watch sees them in this order, each once. An answer is
// never cut silently: either it is whole or its connection breaks.
//
// # Goroutines
//
// One per connection and request, as in net/http, and those of the collector and of the kubelet. All of them have
// ended when [Server.Stop] returns. A watcher has no goroutine and no buffer of its own besides its request's: a slow
// client is cut, and nothing piles up for it.
//
// # Failure
//
// Nothing that a client sends ends the server or makes it grow: bodies, headers, nesting and the number of patch operations are
// limited, and a panic in a handler is an answer with the code 500. Faults are failures that are asked for: see package faults.
//
// # Testing
//
// The behaviour in time is tested over pipes in a synctest bubble, connections over sockets with a check that no goroutine is
// left, and the answers against conversations that were recorded from the real server (package apiservertest).
//
// Next: package registry
package apiserver
