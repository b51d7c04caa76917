package informer

import (
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
)

// ListerWatcher is where the objects come from. *restclient.Resource[T] is one.
type ListerWatcher[T any] = reflector.ListerWatcher[T]

// Reflector keeps a queue or a store like a collection on a server.
type Reflector[T any] = machine.Reflector[T]
