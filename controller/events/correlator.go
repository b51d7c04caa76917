package events

import (
	"hash/maphash"
	"time"

	"golang.org/x/time/rate"

	"orrery/restclient/api"
)

// The limits are those of client-go's recorder (the defaults of record.CorrelatorOptions).
const (
	// budgetBurst and budgetRefill limit the Events of one type about one object.
	budgetBurst  = 25
	budgetRefill = 5 * time.Minute
	// remembered bounds each of the tables. A table that is full is emptied: a repeated Event is
	// then written again, and each object has its burst again.
	remembered = 4096
)

// correlator decides whether an Event is new, counts with an earlier one, or is dropped. It uses
// neither a server nor a clock. It is not safe for concurrent use.
type correlator struct {
	hash    maphash.Seed // messages are stored as hashes, because they may be long
	seen    map[sameEvent]serverEvent
	budgets map[spender]*rate.Limiter
}

// spender is the owner of a budget.
type spender struct {
	about api.ObjectReference // without resource version
	kind  api.EventType
}

// sameEvent is the key of Events that differ only in their time.
type sameEvent struct {
	spender
	reason  string
	message uint64
}

// serverEvent is the Event on the server that counts equal ones.
type serverEvent struct {
	name  string
	first api.Time
	count int
}

func newCorrelator() *correlator {
	return &correlator{
		hash:    maphash.MakeSeed(),
		seen:    map[sameEvent]serverEvent{},
		budgets: map[spender]*rate.Limiter{},
	}
}

// correlate returns the Event as it should be on the server: a new one if its count is 1, otherwise
// an update of the one with its name. It returns nil if there have been too many about the object.
// It does not change event.
func (c *correlator) correlate(event *api.Event, now time.Time) *api.Event {
	about := event.InvolvedObject
	about.ResourceVersion = ""
	by := spender{about: about, kind: event.Type}
	message := maphash.String(c.hash, event.Message)
	counted := c.count(event, sameEvent{spender: by, reason: event.Reason, message: message})
	if !c.budget(by).AllowN(now, 1) {
		return nil
	}
	return counted
}

// count returns the Event as the next of its equals.
func (c *correlator) count(event *api.Event, key sameEvent) *api.Event {
	next := *event
	known, ok := c.seen[key]
	if ok {
		next.Name, next.FirstTimestamp = known.name, known.first
	} else if len(c.seen) >= remembered {
		clear(c.seen)
	}
	next.Count = known.count + 1
	c.seen[key] = serverEvent{name: next.Name, first: next.FirstTimestamp, count: next.Count}
	return &next
}

func (c *correlator) budget(by spender) *rate.Limiter {
	budget := c.budgets[by]
	if budget == nil {
		if len(c.budgets) >= remembered {
			clear(c.budgets)
		}
		budget = rate.NewLimiter(rate.Every(budgetRefill), budgetBurst)
		c.budgets[by] = budget
	}
	return budget
}
