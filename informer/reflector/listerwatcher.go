package reflector

import (
	"context"

	"orrery/restclient/api"
)

// ListerWatcher is the source of the objects: a collection on an API server, or a fake.
//
// Its contexts come from api.WithSingleAttempt: a failed request must be reported at once and not
// repeated, because the Reflector decides when to retry.
//
// An error may have a method Unreachable() bool that reports whether the server could not be
// reached or the connection broke; [CauseOf] classifies other errors.
//
// A watcher may report by a method HasKeepalive() bool, called once when it is open, whether its
// connection has a keepalive, so that Next fails when the other end is gone. The idle timeout of
// the watch depends on it, see Config.IdleTimeout. The ListerWatcher may have the method
// HasKeepalive as well, for the next watch. It is called often and must not block.
//
// An implementation for which streaming lists make no sense may say so with a method
// IsWatchListSemanticsUnSupported() bool that returns true (the name is client-go's); it is asked
// once, by [New].
type ListerWatcher[T any] interface {
	// List returns the collection, or one page of it if opts.Limit is set; a limit of one verifies
	// that the server has a version. It ends with ctx.
	List(ctx context.Context, opts api.ListOptions) (*api.List[T], error)
	// Watch opens a stream of changes. The stream ends with ctx.
	Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error)
}

// Store is the destination of the objects: a DeltaFIFO or an Indexer.
//
// The Reflector never makes two calls at the same time, but it uses two goroutines (the timers' one
// for Resync) and holds its own lock during each call: a store must not wait for the same
// Reflector. An error means that the call had no effect; see [Config] for the consequences.
//
// A store may have a method Bookmark(resourceVersion string), which gets the version of every
// bookmark that has one.
type Store[T any] interface {
	Add(obj T) error
	Update(obj T) error
	Delete(obj T) error
	// Replace makes items the whole content. The store owns the slice afterwards.
	Replace(items []T, resourceVersion string) error
	Resync() error
}

// Bookmarker is a [Store] that follows the bookmarks of the stream.
type Bookmarker interface{ Bookmark(resourceVersion string) }
