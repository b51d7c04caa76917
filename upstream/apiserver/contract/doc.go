// Package contract compares parts of the built-in API server with the originals that they stand for, on many random
// inputs: strategic merge patches with apimachinery's, JSON patches with the library that kube-apiserver uses.
package contract
