// Package reflector keeps a store equal to a collection on an API server.
package reflector
