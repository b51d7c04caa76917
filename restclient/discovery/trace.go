package discovery

import "time"

// Trace holds hooks that [Cached] calls. Fields may be nil. They are called from several goroutines at once and must not
// block.
type Trace struct {
	// Reused: an answer was taken from the cache.
	Reused func(asOf time.Time)

	// Fetched: the server was asked. asOf is zero if the server did not tell its time; err is that of the answer, which is not
	// kept if there is one.
	Fetched func(asOf time.Time, err error)
}

func (t *Trace) reused(asOf time.Time) {
	if t != nil && t.Reused != nil {
		t.Reused(asOf)
	}
}

func (t *Trace) fetched(asOf time.Time, err error) {
	if t != nil && t.Fetched != nil {
		t.Fetched(asOf, err)
	}
}
