package events

import (
	"time"

	"orrery/restclient/api"
)

// An object may be the subject of so many Events at once, and then of one in so long.
const (
	budgetBurst  = 25
	budgetRefill = 5 * time.Minute
)

// spender is who has a budget: one type of Event about one object.
type spender struct {
	about api.ObjectReference // without its version and part
	kind  api.EventType
}

func spenderOf(event *api.Event) spender {
	about := event.InvolvedObject
	about.ResourceVersion, about.FieldPath = "", ""
	return spender{about: about, kind: event.Type}
}

// budget is a token bucket. The zero value is full.
type budget struct {
	spent float64 // tokens that are missing
	at    time.Time
}

// spend takes a token, if there is one.
func (b *budget) spend(now time.Time) bool {
	b.spent = max(0, b.spent-float64(now.Sub(b.at))/float64(budgetRefill))
	b.at = now
	if b.spent > budgetBurst-1 {
		return false
	}
	b.spent++
	return true
}
