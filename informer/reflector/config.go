package reflector

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// The defaults of [Config].
const (
	DefaultPageSize              = 500
	DefaultListTimeout           = 5 * time.Minute
	DefaultMinWatchTimeout       = 5 * time.Minute
	DefaultIdleTimeout           = 3 * time.Minute
	DefaultSilentIdleTimeout     = 45 * time.Second
	DefaultInitialEventsTimeout  = 10 * time.Second
	DefaultInitialEventsDeadline = 5 * time.Minute
	DefaultStreamingListAttempts = 3
)

// What both forms measure by.
const (
	// VeryShortWatch is the life of a watch below which it must have delivered something to be believed.
	VeryShortWatch = time.Second
	// HealthyWatch is the life after which a watch shows that server and connection are well even if nothing happened on it.
	HealthyWatch = 10 * time.Second
	// LongestRetryAfter bounds what a server may ask for: a header that is out by some zeros must not put a controller to sleep for a
	// day.
	LongestRetryAfter = 5 * time.Minute
)

// Config is what a reflector of either form needs to know. ListerWatcher and Store are required; the zero value of everything
// else is useful. The textbook form has no use for streaming lists, list and idle timeouts and the budget of internal errors.
type Config[T any] struct {
	// Name appears in errors and snapshots; by convention the resource, such as "namespaces".
	Name string
	// ListerWatcher is where the objects come from.
	ListerWatcher ListerWatcher[T]
	// Store is where they go.
	//
	// A Replace or a Resync that fails ends the round: the Reflector backs off and lists again. An Add, Update or
	// Delete that fails concerns one object; it is told to Trace.StoreFailed and counted, and the stream goes on,
	// as upstream does.
	Store Store[T]
	// KeyFunc names objects while a streaming list is collected. Without it there are no streaming lists.
	KeyFunc func(T) (string, error)

	// PageSize is the limit of a list request. 0 leaves it to the Reflector: 500 where pages are useful, no pages
	// where a list at a known version can come from the server's watch cache as a whole.
	PageSize int64
	// ListTimeout is the longest time that one list request (one page) may take, until its answer is complete. Without it, a
	// list over a dead connection might never end. Default 5 min; an API server ends requests after one minute, unless it is
	// told otherwise. A negative value means no limit.
	ListTimeout time.Duration
	// DisableWatchList makes the initial state come by LIST always, never by a streaming list.
	DisableWatchList bool
	// InitialEventsTimeout is the longest silence (no answer, then no ADDED event) while the initial events of a
	// streaming list are awaited; after it the state is listed instead. Default 10 s.
	InitialEventsTimeout time.Duration
	// InitialEventsDeadline is the longest time that a streaming list may take altogether, with the same
	// consequence. Default 5 min, enough for hundreds of thousands of objects.
	InitialEventsDeadline time.Duration
	// StreamingListAttempts is how many streaming lists in a row may break off before the state is listed
	// instead. Default 3.
	StreamingListAttempts int

	// MinWatchTimeout is the shortest time after which the server is asked to end a watch. The actual time is
	// drawn for each watch between this and twice this, so that watches which began together do not end together.
	// Default 5 min. Shorter ones put more load on the server and are for demonstrations. Watches without keepalive are
	// shorter, see IdleTimeout.
	MinWatchTimeout time.Duration
	// IdleTimeout is the longest silence on a watch. After it the connection may be dead (half-open: the other side is gone and no error
	// says so), and the watch is opened again at the same position, after a list of one object has verified that. It is also the
	// longest time that opening a watch may take. The default depends on whether the connection has a keepalive (see [ListerWatcher]).
	//
	// With keepalive (HTTP/2, websocket) it is 3 min, and one and a half bookmark intervals, 90 s at least, once bookmarks have
	// come. What is noticed that way is a proxy that answers pings for a server that is gone, or a server that is stuck. A
	// watch without bookmarks may be silent for good reason: then a healthy one is replaced every three minutes instead of
	// every five to ten, for two cheap requests more.
	//
	// Without keepalive (HTTP/1.1) it is 45 s. The server is asked to end each watch after seven to nine tenths of that, in whole seconds, so
	// that a quiet one ends in good order before; not if the timeout is shorter than three seconds.
	//
	// A negative value switches it off.
	IdleTimeout time.Duration

	// ResyncPeriod is the time between two calls of Store.Resync, counted from the start of Run and not disturbed
	// by lists, watches and failures. 0 means never. Nothing is resynced before the first list is in the store.
	ResyncPeriod time.Duration
	// ShouldResync is asked before each Resync, if it is not nil.
	ShouldResync func() bool

	// Backoff spaces the attempts of what fails.
	Backoff BackoffConfig
	// MaxInternalErrorRetryDuration is for how long a watch that ends with an internal error of the server (500) is
	// opened again at the same position, after a back-off, before the state is listed anew. The time counts from
	// the first such error and starts again after a minute without one. Default 0: list at once.
	MaxInternalErrorRetryDuration time.Duration

	// WatchErrorHandler is called once for each failed round, with the reason: a [*ListError], [*WatchStartError],
	// [*StreamError] or [*StoreError]. A round fails when the Reflector has to fetch the whole state again. What it
	// repairs without that (a watch that ends, or that cannot be opened because the server does not answer) is told to
	// Trace.BackOff and Trace.WatchEnded only, and so is a streaming list that is replaced by a plain one.
	//
	// It holds the Reflector up while it runs, like a hook of Trace. ctx ends with Run's, and what fails from then
	// on, because of that, is not told.
	WatchErrorHandler func(ctx context.Context, err error)
	// Trace shows what happens inside. See [Trace].
	Trace *Trace
}

// BackoffConfig spaces attempts: the first waits Initial, each further one Factor times as long, up to Max, and
// each is stretched by a random share of up to Jitter of itself. After health (a watch that delivered something
// or that lasted ten seconds) it begins again at Initial.
type BackoffConfig struct {
	Initial time.Duration // default 800 ms
	Max     time.Duration // default 30 s
	Factor  float64       // default 2
	// Jitter 1, the default, makes a wait of d last between d and 2d. A negative value means no jitter.
	Jitter float64
}

// WithDefaults returns the configuration with a value in every field that has a default, except IdleTimeout, whose default
// depends on the connection. Hooks that are nil in Trace do nothing.
func (c Config[T]) WithDefaults() Config[T] {
	c.ListTimeout = orDefault(c.ListTimeout, DefaultListTimeout)
	c.InitialEventsTimeout = orDefault(c.InitialEventsTimeout, DefaultInitialEventsTimeout)
	c.InitialEventsDeadline = orDefault(c.InitialEventsDeadline, DefaultInitialEventsDeadline)
	c.StreamingListAttempts = orDefault(c.StreamingListAttempts, DefaultStreamingListAttempts)
	c.MinWatchTimeout = orDefault(c.MinWatchTimeout, DefaultMinWatchTimeout)
	if c.WatchErrorHandler == nil {
		c.WatchErrorHandler = func(context.Context, error) {}
	}
	c.Trace = c.Trace.complete()
	return c
}

func (b BackoffConfig) withDefaults() BackoffConfig {
	b.Initial = orDefault(b.Initial, 800*time.Millisecond)
	b.Max = max(orDefault(b.Max, 30*time.Second), b.Initial)
	b.Factor = max(orDefault(b.Factor, 2), 1)
	b.Jitter = max(orDefault(b.Jitter, 1), 0)
	return b
}

func orDefault[N ~int | ~int64 | ~float64](value, otherwise N) N {
	if value == 0 {
		return otherwise
	}
	return value
}

// Delays returns a new source of delays. The library spreads a delay to both sides of a mean; a wait between d and d(1+jitter)
// has the mean d(1+jitter/2).
func (b BackoffConfig) Delays() backoff.BackOff {
	b = b.withDefaults()
	stretch := 1 + b.Jitter/2
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval = scale(b.Initial, stretch)
	delays.MaxInterval = scale(b.Max, stretch)
	delays.Multiplier = b.Factor
	delays.RandomizationFactor = b.Jitter / 2 / stretch
	delays.MaxElapsedTime = 0 // a Reflector never gives up
	delays.Reset()
	return delays
}

func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
