// Package contract compares parts of the server in memory with their originals on random inputs:
// strategic merge patches with apimachinery's, JSON patches with kube-apiserver's library,
// quantities with apimachinery's.
package contract
