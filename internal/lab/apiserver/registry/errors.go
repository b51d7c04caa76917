package registry

import "errors"

// ErrEnded ends a watch for which nothing more can come: its resource has been removed.
var ErrEnded = errors.New("registry: the watch has ended, its resource was removed")
