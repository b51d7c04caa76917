package reflector

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Config configures a reflector of either form. ListerWatcher and Store are required; the other
// zero values are useful. The textbook form ignores the fields for streaming lists, list and idle
// timeouts.
type Config[T any] struct {
	Name          string           // in errors and snapshots; by convention the resource, such as "namespaces"
	ListerWatcher ListerWatcher[T] // the source of the objects
	// Store is their destination. A failed Replace or Resync ends the round: the Reflector backs off
	// and lists again. A failed Add, Update or Delete concerns one object; it is counted and
	// reported to Trace.StoreFailed, and the stream continues, as upstream.
	Store Store[T]
	// KeyFunc returns the keys of objects of a streaming list. Without it there are none.
	KeyFunc func(T) (string, error)

	// PageSize is the limit of a list request. 0 means automatic: 500 if pages are useful, no pages
	// if a list at a known version can come from the server's watch cache.
	PageSize int64
	// MaxItems bounds the objects of a list, over all its pages, and the initial events of a streaming
	// list: a broken server must not fill the memory. A list that is longer is a failure. Default one
	// million.
	MaxItems int
	// ListTimeout bounds one list request (one page), until its answer is complete: a list over a
	// dead connection might never end. Default 5 min; a negative value means no limit.
	ListTimeout time.Duration
	// DisableWatchList makes the initial state always come from LIST, never from a streaming list.
	DisableWatchList bool
	// InitialEventsDeadline is the longest duration of the initial events of a streaming list. After
	// that the state is listed instead. Default 5 min, enough for hundreds of thousands of objects.
	InitialEventsDeadline time.Duration

	// MinWatchTimeout is the minimum time limit of a watch in requests. The limit is drawn for each
	// watch between this and twice this, so that watches that began together do not end together.
	// Default 5 min. Watches without keepalive have shorter limits, see IdleTimeout.
	MinWatchTimeout time.Duration
	// IdleTimeout is the longest silence on a watch, and of the opening of one. Then the connection
	// may be dead (half-open), and the watch is reopened at the same position, after a list of one
	// object has verified that position. A negative value switches it off.
	//
	// The default depends on whether the connection has a keepalive (see [ListerWatcher]). With one
	// (HTTP/2, websocket) it is 3 min: that detects a stuck server, or a proxy that answers pings for
	// a server that is gone. Without (HTTP/1.1) it is 45 s, and the server is asked to end each watch
	// after seven to nine tenths of that, so that a quiet one ends normally before the timeout,
	// unless the timeout is shorter than three seconds.
	IdleTimeout time.Duration

	// ResyncPeriod is the time between two calls of Store.Resync, counted from the start of Run
	// regardless of lists, watches and failures (textbook form: from each list). 0 means never. There
	// is no resync before the first list is in the store.
	ResyncPeriod time.Duration
	// ShouldResync, if not nil, is called before each Resync and can prevent it.
	ShouldResync func() bool

	Backoff BackoffConfig // after failures

	// WatchErrorHandler is called once for each failed round, with the reason: a [*ListError],
	// [*WatchStartError], [*StreamError] or [*StoreError]. A round fails when the Reflector must
	// fetch the complete state again; smaller failures are reported only to Trace.BackOff and
	// Trace.WatchEnded. The Reflector waits while it runs. ctx ends with Run's; later failures are
	// not reported.
	WatchErrorHandler func(ctx context.Context, err error)
	Trace             *Trace // observes the Reflector
}

// BackoffConfig configures a back-off: the first delay is Initial, each further one twice as long,
// up to Max, and each is extended by a random share of up to Jitter of itself. After a success (a
// watch that delivered something or lasted ten seconds) it restarts at Initial.
type BackoffConfig struct {
	Initial time.Duration // default 800 ms
	Max     time.Duration // default 30 s
	// Jitter 1, the default, makes a wait of d last between d and 2d. A negative value means no
	// jitter.
	Jitter float64
}

// The thresholds of both forms.
const (
	// PageSize is the default of Config.PageSize where pages are useful.
	PageSize = 500
	// VeryShortWatch is the duration below which a watch must have delivered something to count as
	// a success.
	VeryShortWatch = time.Second
	// HealthyWatch is the duration after which a watch shows that server and connection work even
	// without events.
	HealthyWatch = 10 * time.Second
	// EmptyPages is how many pages more than items a list may have. A selector can leave a page
	// without items.
	EmptyPages = 40
	// LongestRetryAfter bounds a server's Retry-After: a header with a few zeros too many must not
	// stop a controller for a day.
	LongestRetryAfter = 5 * time.Minute
)

// WithDefaults returns the configuration with defaults in all unset fields, except IdleTimeout,
// whose default depends on the connection. Trace has a no-op for each nil hook.
func (c Config[T]) WithDefaults() Config[T] {
	c.MaxItems = orDefault(c.MaxItems, 1_000_000)
	c.ListTimeout = orDefault(c.ListTimeout, 5*time.Minute)
	c.InitialEventsDeadline = orDefault(c.InitialEventsDeadline, 5*time.Minute)
	c.MinWatchTimeout = orDefault(c.MinWatchTimeout, 5*time.Minute)
	if c.WatchErrorHandler == nil {
		c.WatchErrorHandler = func(context.Context, error) {}
	}
	c.Trace = c.Trace.complete()
	return c
}

func (b BackoffConfig) withDefaults() BackoffConfig {
	b.Initial = orDefault(b.Initial, 800*time.Millisecond)
	b.Max = max(orDefault(b.Max, 30*time.Second), b.Initial)
	b.Jitter = max(orDefault(b.Jitter, 1), 0)
	return b
}

func orDefault[N ~int | ~int64 | ~float64](value, otherwise N) N {
	if value == 0 {
		return otherwise
	}
	return value
}

// Delays returns a new sequence of delays. The library spreads a delay to both sides of a mean; a
// delay between d and d(1+jitter) has the mean d(1+jitter/2).
func (b BackoffConfig) Delays() backoff.BackOff {
	b = b.withDefaults()
	stretch := 1 + b.Jitter/2
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval = scale(b.Initial, stretch)
	delays.MaxInterval = scale(b.Max, stretch)
	delays.Multiplier = 2
	delays.RandomizationFactor = b.Jitter / 2 / stretch
	delays.MaxElapsedTime = 0 // a Reflector never gives up
	delays.Reset()
	return delays
}

func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
