package events

import (
	"hash/maphash"
	"time"

	"golang.org/x/time/rate"

	"orrery/restclient/api"
)

// The rules by which client-go's recorder keeps Events few, and so ours (record.CorrelatorOptions has the same defaults).
const (
	// similarBefore: from so many Events on that differ in their messages alone, one Event stands for all of them.
	similarBefore = 10
	// similarFor is how long after the last one another is still taken for similar.
	similarFor = 10 * time.Minute
	// remembered bounds each of the tables.
	remembered = 4096
	// combinedPrefix begins the message of the Event that stands for similar ones.
	combinedPrefix = "(combined from similar events): "
)

// correlator decides what becomes of an Event: a new one, another count of one that is there, or nothing. It knows nothing
// of a server and asks no clock. It is not safe for concurrent use.
type correlator struct {
	hash    maphash.Seed // messages are remembered by their hash: a message may be long
	groups  *lru[group, similar]
	seen    *lru[sameEvent, sighting]
	budgets *lru[spender, *rate.Limiter]
}

// group is what similar Events have in common. The source is the recorder's own, and the same for all.
type group struct {
	about  api.ObjectReference // without its version and part
	kind   api.EventType
	reason string
}

// similar is what is known of a group.
type similar struct {
	messages map[uint64]bool // at most similarBefore
	last     time.Time
}

// sameEvent are Events that differ in nothing but their time, or, if they are combined, in their messages.
type sameEvent struct {
	group    group
	part     string
	message  uint64
	combined bool
}

// sighting is the Event that is on the server for those that are the same. Count 0: there is none.
type sighting struct {
	name  string
	first api.Time
	count int
}

func newCorrelator() *correlator {
	return &correlator{
		hash:    maphash.MakeSeed(),
		groups:  newLRU[group, similar](remembered),
		seen:    newLRU[sameEvent, sighting](remembered),
		budgets: newLRU[spender, *rate.Limiter](remembered),
	}
}

// correlate returns the Event as it should stand on the server: a new one if its count is 1, otherwise one that is there
// under its name already. It returns nil if there have been too many about its object. event itself is not changed.
func (c *correlator) correlate(event *api.Event, now time.Time) *api.Event {
	settled := *event
	key := c.combine(&settled, now)
	c.count(&settled, key)
	budget := c.budgets.at(spenderOf(&settled))
	if *budget == nil {
		*budget = rate.NewLimiter(rate.Every(budgetRefill), budgetBurst)
	}
	if !(*budget).AllowN(now, 1) {
		return nil
	}
	return &settled
}

// combine turns an Event of which there have been many similar ones into the one that stands for all of them.
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
	for message := range known.messages { // any of them: they are counted, not compared
		delete(known.messages, message)
		break
	}
	event.Message = combinedPrefix + event.Message
	return sameEvent{group: key.group, combined: true}
}

// count makes the Event the next of those that are the same.
func (c *correlator) count(event *api.Event, key sameEvent) {
	known := c.seen.at(key)
	if known.count > 0 {
		event.Name, event.FirstTimestamp = known.name, known.first
	}
	known.count++
	event.Count = known.count
	known.name, known.first = event.Name, event.FirstTimestamp
}
