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
