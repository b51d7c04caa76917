package trace

import (
	"strconv"
	"time"
)

// event returns the event of a record at a time, without its number and causes.
func (r *record) event(at int64) *Event {
	e := &Event{
		Time: at / 1000, Name: r.hook, In: r.in, Key: r.key, ResourceVersion: r.rv,
		N: r.n, M: r.m, Micros: micros(r.took), Number: r.num, Err: errText(r.err),
	}
	if fill := fills[r.hook]; fill != nil {
		fill(e, r)
	}
	return e
}

// micros rounds up, so that no duration becomes 0.
func micros(d time.Duration) int64 {
	return int64((max(d, 0) + time.Microsecond - 1) / time.Microsecond)
}

// fills set the fields of an event that [record.event] does not, by the name of the event.
var fills = map[string]func(e *Event, r *record){
	"reflector.stateChanged": func(e *Event, r *record) { e.From, e.To, e.On = r.a, r.b, r.c },
	"reflector.pageListed":   func(e *Event, r *record) { e.Page, e.More = r.x, r.yes },
	"reflector.listed":       func(e *Event, r *record) { e.Pages = r.x },
	"reflector.event": func(e *Event, r *record) {
		e.Type = r.a
		if r.b != "" {
			e.Key = r.b + "/" + r.key
		}
	},
	"reflector.bookmark":    func(e *Event, r *record) { e.Initial = r.yes },
	"reflector.storeFailed": func(e *Event, r *record) { e.Op = r.a },

	"deltafifo.queued":       fillDelta,
	"deltafifo.deduplicated": fillDelta,
	"deltafifo.ignored":      fillDelta,
	"deltafifo.canceled":     fillDelta,
	"deltafifo.popped":       fillDeltas,
	"deltafifo.requeued":     fillDeltas,

	"informer.handlerAdded": func(e *Event, r *record) {
		fillHandler(e, r)
		e.Label = r.a
	},
	"informer.handlerRemoved":  fillHandler,
	"informer.handlerEnded":    fillHandler,
	"informer.handlerSynced":   fillHandler,
	"informer.handlerPanicked": fillHandler,
	"informer.handlerCalled":   fillHandler,
	"informer.handled":         fillHandler,
	"informer.handlerQueued": func(e *Event, r *record) {
		fillHandler(e, r)
		e.Pending, e.Merged, e.M = r.x, r.m, 0
	},
	"informer.applied":     func(e *Event, r *record) { e.Kind, e.Deltas, e.Sync = r.b, r.a, r.yes },
	"informer.distributed": func(e *Event, r *record) { e.Kind = r.b },

	"queue.shuttingDown": func(e *Event, r *record) { e.Drain = r.yes },

	"nsctl.enqueued":         func(e *Event, r *record) { e.UID, e.Phase = r.b, r.a },
	"nsctl.passContext":      func(e *Event, r *record) { e.Pass = r.a },
	"nsctl.phaseStarted":     func(e *Event, r *record) { e.Phase = r.a },
	"nsctl.phaseDone":        func(e *Event, r *record) { e.Phase = r.a },
	"nsctl.emptinessChecked": func(e *Event, r *record) { e.Pass = r.a },
	"nsctl.typeDeleted":      func(e *Event, r *record) { e.Resource = r.a },
	"nsctl.wouldDelete":      func(e *Event, r *record) { e.Resource = r.a },
	"nsctl.conditionsUpdated": func(e *Event, r *record) {
		e.Type, e.Status, e.Reason, e.Message, e.In = r.a, r.b, r.in, shown(r.c), ""
	},

	"restclient.requestStart": fillRequest,
	"restclient.watchOpened":  fillRequest,
	"restclient.requestDone":  fillResult,
	"restclient.retry":        fillResult,
	"restclient.throttled":    fillResult,
	"restclient.finished":     fillResult,
	"restclient.watchClosed":  fillResult,
	"restclient.warning":      func(e *Event, r *record) { e.Pass, e.Text = r.a, shown(r.b) },

	"leaderelection.acquired":  func(e *Event, r *record) { e.Identity = r.a },
	"leaderelection.newLeader": func(e *Event, r *record) { e.Identity = r.a },

	"lab.scene":    fillLabel,
	"lab.input":    fillLabel,
	"lab.chapter":  fillLabel,
	"lab.question": fillLabel,
	"lab.held":     fillGate,
	"lab.stepped":  fillGate,
	"lab.released": fillGate,
	"lab.answer":   func(e *Event, r *record) { e.Label, e.Text = r.a, r.b },
}

func fillDelta(e *Event, r *record)   { e.Deltas = r.a }
func fillGate(e *Event, r *record)    { e.Gate = r.a }
func fillLabel(e *Event, r *record)   { e.Label, e.Arguments = r.a, r.b }
func fillHandler(e *Event, r *record) { e.Handler, e.Kind = r.a+"#"+strconv.FormatUint(r.id, 10), r.b }
func fillResult(e *Event, r *record)  { e.Request, e.Code = r.id, r.x }

func fillDeltas(e *Event, r *record) {
	e.Deltas, e.Initial = letters(r.id, r.m), r.yes
	if r.m <= packed {
		e.M = 0
	}
}

func fillRequest(e *Event, r *record) {
	e.Request, e.Pass, e.Verb, e.Resource, e.Path, e.Attempt, e.In = r.id, r.in, r.a, r.b, clip(r.c), r.x, ""
}
