package reflector

import (
	"context"

	"orrery/restclient/api"
)

// ListerWatcher is where the objects come from: a collection on an API server, or a fake.
//
// The contexts that it is given come from api.WithSingleAttempt: a failed request is to be reported at once and not
// repeated, since the Reflector decides what follows from it and when.
//
// An error may say by a method Unreachable() bool whether the server could not be reached or the connection broke; see
// [CauseOf] for what is made of others.
//
// A watcher may report by a method ProvesLife() bool, called once when it is open, whether its connection has a keepalive, so that
// Next fails when the other end is gone. The idle timeout of the watch depends on it, see Config.IdleTimeout. The ListerWatcher may
// have the method ProvesLife as well, for the next watch. It is called often and must not block.
//
// An implementation for which streaming lists make no sense may say so with a method
// IsWatchListSemanticsUnSupported() bool that returns true (the name is client-go's); it is asked once, by [New].
type ListerWatcher[T any] interface {
	// List returns the collection, or one page of it if opts.Limit asks for pages: with a limit of one, to learn whether the server
	// has a version. It ends with ctx.
	List(ctx context.Context, opts api.ListOptions) (*api.List[T], error)
	// Watch opens a stream of changes. The stream ends with ctx.
	Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error)
}

// Store is where the objects go: a DeltaFIFO or an Indexer.
//
// The Reflector never makes two calls at the same time, but they come from two goroutines (Resync from the one that
// keeps the time), and it holds its own lock during each: a store must not wait for something that the same
// Reflector has yet to do. An error says that the call had no effect; what follows from it is told at [Config].
//
// A store may also have a method Bookmark(resourceVersion string). It is then told
// of every bookmark, except those that are older than what it has.
type Store[T any] interface {
	Add(obj T) error
	Update(obj T) error
	Delete(obj T) error
	// Replace makes items the whole content. The slice belongs to the store from then on.
	Replace(items []T, resourceVersion string) error
	Resync() error
}

// Bookmarker is a [Store] that wants to know how far the stream has come while nothing changes.
type Bookmarker interface {
	Bookmark(resourceVersion string)
}
