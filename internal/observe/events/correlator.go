package events

import (
	"hash/maphash"
	"time"

	"golang.org/x/time/rate"

	"orrery/restclient/api"
)

// The limits are those of client-go's recorder (the defaults of record.CorrelatorOptions).
const (
	// similarBefore is the number of Events that differ only in their messages from which one Event
	// stands for all.
	similarBefore = 10
	// similarFor is how long after the last one another Event still counts as similar.
	similarFor = 10 * time.Minute
	// remembered bounds each of the tables.
	remembered = 4096
	// combinedPrefix begins the message of the Event that stands for similar ones.
	combinedPrefix = "(combined from similar events): "
	// budgetBurst and budgetRefill limit the Events of one type about one object.
	budgetBurst  = 25
	budgetRefill = 5 * time.Minute
)

// correlator decides whether an Event is new, counts with an earlier one, or is dropped. It uses
// neither a server nor a clock. It is not safe for concurrent use.
type correlator struct {
	hash    maphash.Seed // messages are stored as hashes, because they may be long
	groups  *lru[group, similar]
	seen    *lru[sameEvent, serverEvent]
	budgets *lru[spender, *rate.Limiter]
}

// group is what similar Events have in common, apart from the source.
type group struct {
	about  api.ObjectReference // without resource version and field path
	kind   api.EventType
	reason string
}

// similar is the state of a group.
type similar struct {
	messages map[uint64]bool // at most similarBefore
	last     time.Time
}

// sameEvent is the key of Events that differ only in their time or, if combined, in their messages.
type sameEvent struct {
	group    group
	part     string
	message  uint64
	combined bool
}

// serverEvent is the Event on the server that counts equal ones. Count 0: there is none.
type serverEvent struct {
	name  string
	first api.Time
	count int
}

func newCorrelator() *correlator {
	return &correlator{
		hash:    maphash.MakeSeed(),
		groups:  newLRU[group, similar](remembered),
		seen:    newLRU[sameEvent, serverEvent](remembered),
		budgets: newLRU[spender, *rate.Limiter](remembered),
	}
}

// correlate returns the Event as it should be on the server: a new one if its count is 1, otherwise
// an update of the one with its name. It returns nil if there have been too many about the object.
// It does not change event.
func (c *correlator) correlate(event *api.Event, now time.Time) *api.Event {
	combined := *event
	key := c.combine(&combined, now)
	c.count(&combined, key)
	budget := c.budgets.at(spenderOf(&combined))
	if *budget == nil {
		*budget = rate.NewLimiter(rate.Every(budgetRefill), budgetBurst)
	}
	if !(*budget).AllowN(now, 1) {
		return nil
	}
	return &combined
}

// combine turns an Event with many similar ones into the one that stands for all of them.
func (c *correlator) combine(event *api.Event, now time.Time) sameEvent {
	about := event.InvolvedObject
	about.ResourceVersion, about.FieldPath = "", ""
	key := sameEvent{
		group:   group{about: about, kind: event.Type, reason: event.Reason},
		part:    event.InvolvedObject.FieldPath,
		message: maphash.String(c.hash, event.Message),
	}
	known := c.groups.at(key.group)
	if known.messages == nil || now.Sub(known.last) > similarFor {
		known.messages = map[uint64]bool{}
	}
	known.messages[key.message] = true
	known.last = now
	if len(known.messages) < similarBefore {
		return key
	}
	for message := range known.messages { // any one, since only their number matters
		delete(known.messages, message)
		break
	}
	event.Message = combinedPrefix + event.Message
	return sameEvent{group: key.group, combined: true}
}

// count makes the Event the next of its equals.
func (c *correlator) count(event *api.Event, key sameEvent) {
	known := c.seen.at(key)
	if known.count > 0 {
		event.Name, event.FirstTimestamp = known.name, known.first
	}
	known.count++
	event.Count = known.count
	known.name, known.first = event.Name, event.FirstTimestamp
}

// spender is the owner of a budget.
type spender struct {
	about api.ObjectReference // without resource version and field path
	kind  api.EventType
}

func spenderOf(event *api.Event) spender {
	about := event.InvolvedObject
	about.ResourceVersion, about.FieldPath = "", ""
	return spender{about: about, kind: event.Type}
}
