package informer

import "orrery/informer/reflector"

// ListerWatcher is where the objects come from. *restclient.Resource[T] is one.
type ListerWatcher[T any] = reflector.ListerWatcher[T]

// Reflector keeps a queue or a store like a collection on a server.
type Reflector[T any] = reflector.Reflector[T]
