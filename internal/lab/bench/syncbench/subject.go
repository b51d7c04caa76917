package syncbench

import "context"

// Subject is a client with an informer.
type Subject interface {
	// Name is what the subject is called in results: "orrery".
	Name() string
	// Start starts an informer for all pods of the server at that URL, as metadata, with one handler that counts. The informer lives until Stop.
	Start(url string) (Informer, error)
}

// Informer is a running informer.
type Informer interface {
	// WaitForSync returns when the cache has the first state and the handler has been told of all of it.
	WaitForSync(ctx context.Context) error
	// Added is how many objects the handler has been told of.
	Added() int
	// Each calls visit for each cached object, until it fails.
	Each(visit func(Pod) error) error
	// Stop ends the informer and returns when it has ended.
	Stop()
}
