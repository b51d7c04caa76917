package restclient

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
)

// DefaultUserAgent names the program, its version and the platform: "orrery/v1.2.0 (linux/amd64)". API servers take the
// part before the slash as the field manager of what the program writes.
func DefaultUserAgent() string { return defaultUserAgent() }

var defaultUserAgent = sync.OnceValue(func() string {
	program, version := filepath.Base(os.Args[0]), "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return program + "/" + version + " (" + runtime.GOOS + "/" + runtime.GOARCH + ")"
})
