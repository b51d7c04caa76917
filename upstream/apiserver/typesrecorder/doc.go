// Typesrecorder sends manifests to a kube-apiserver and writes down what it stores, refuses and shows in a table, for the
// tests of orrery/internal/lab/apiserver/resources:
//
//	go run ./apiserver/typesrecorder -kubeconfig FILE -dir ../internal/lab/apiserver/resources/testdata [pods ...]
//
// It reads cases/*.yaml (all of them, or the named ones) and writes recorded/*.json. A case creates an object, and its
// steps update it, each by a JSON merge patch that is applied here to the last stored object and sent as an update of the
// object or of a subresource. Objects are made in the namespace orrery-types, or with names that begin with that word,
// and deleted after their case. Fields managed by others (managedFields) are left out.
package main
