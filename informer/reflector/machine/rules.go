package machine

import (
	"time"

	"orrery/informer/reflector"
)

// rules are the part of the configuration that decides transitions.
type rules struct {
	name           string
	pageSize       int64
	list           time.Duration // of a list request; negative: never
	streaming      bool
	silence        time.Duration // of a streaming list
	deadline       time.Duration // of a streaming list
	attempts       int           // of streaming lists
	idle           time.Duration // of a watch whose connection proves that it lives; negative: never
	muteIdle       time.Duration // of any other, and of the opening of a watch
	resync         time.Duration // 0: never
	internalBudget time.Duration
}

func rulesOf[T any](c reflector.Config[T]) *rules {
	r := &rules{
		name:           c.Name,
		pageSize:       c.PageSize,
		list:           c.ListTimeout,
		streaming:      !c.DisableWatchList && c.KeyFunc != nil,
		silence:        c.InitialEventsTimeout,
		deadline:       c.InitialEventsDeadline,
		attempts:       c.StreamingListAttempts,
		idle:           c.IdleTimeout,
		muteIdle:       c.IdleTimeout,
		resync:         c.ResyncPeriod,
		internalBudget: c.MaxInternalErrorRetryDuration,
	}
	if c.IdleTimeout == 0 {
		r.idle, r.muteIdle = reflector.DefaultIdleTimeout, reflector.DefaultMuteIdleTimeout
	}
	if refuser, ok := c.ListerWatcher.(streamingListRefuser); ok && refuser.IsWatchListSemanticsUnSupported() {
		r.streaming = false
	}
	return r
}

// keepaliver is a watcher, or a ListerWatcher, that knows whether silence means that nothing happens.
type keepaliver interface {
	ProvesLife() bool
}

// streamingListRefuser is a ListerWatcher that knows that streaming lists do not work with it.
type streamingListRefuser interface {
	IsWatchListSemanticsUnSupported() bool
}
