package events

import (
	"time"

	"golang.org/x/time/rate"

	"orrery/restclient/api"
)

// The limits are those of client-go's recorder (the defaults of record.CorrelatorOptions).
const (
	// budgetBurst and budgetRefill limit the Events of one type about one object.
	budgetBurst  = 25
	budgetRefill = 5 * time.Minute
	// remembered bounds each of the tables, see remember. For what was forgotten, a repeated Event
	// is written again, and an object has its burst again.
	remembered = 4096
)

// remember adds an entry to a table. It empties one that is full.
func remember[K comparable, V any](table map[K]V, key K, value V) {
	if _, known := table[key]; !known && len(table) >= remembered {
		clear(table)
	}
	table[key] = value
}

// correlator decides whether an Event is new, counts with an earlier one, or is dropped. It uses
// neither a server nor a clock. It is not safe for concurrent use.
type correlator struct {
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
	reason, message string
}

// serverEvent is the Event on the server that counts equal ones.
type serverEvent struct {
	name  string
	first api.Time
	count int
}

func newCorrelator() *correlator {
	return &correlator{seen: map[sameEvent]serverEvent{}, budgets: map[spender]*rate.Limiter{}}
}

// correlate returns the Event as it should be on the server: a new one if its count is 1, otherwise
// an update of the one with its name. It returns nil if there have been too many about the object.
// It does not change event.
func (c *correlator) correlate(event *api.Event, now time.Time) *api.Event {
	about := event.InvolvedObject
	about.ResourceVersion = ""
	by := spender{about: about, kind: event.Type}
	key, next := sameEvent{spender: by, reason: event.Reason, message: event.Message}, *event
	known, ok := c.seen[key]
	if ok {
		next.Name, next.FirstTimestamp = known.name, known.first
	}
	next.Count = known.count + 1
	remember(c.seen, key, serverEvent{name: next.Name, first: next.FirstTimestamp, count: next.Count})

	budget := c.budgets[by]
	if budget == nil {
		budget = rate.NewLimiter(rate.Every(budgetRefill), budgetBurst)
		remember(c.budgets, by, budget)
	}
	if !budget.AllowN(now, 1) {
		return nil
	}
	return &next
}
