// Package orrery holds the sources of the gears. The laboratory shows the function that acts beside
// what it does. The deployed program does not have them.
package orrery

import "embed"

// Source has the Go files of every gear, at their paths in the repository.
//
//go:embed deltafifo/*.go deltafifo/fast/*.go deltafifo/inorder/*.go
//go:embed indexer/*.go indexer/fast/*.go
//go:embed informer/*.go informer/fast/*.go informer/reflector/*.go informer/reflector/machine/*.go
//go:embed controller/*.go controller/leaderelection/*.go
//go:embed nsctl/*.go nsctl/fast/*.go
//go:embed queue/*.go queue/fast/*.go
//go:embed restclient/*.go
var Source embed.FS
