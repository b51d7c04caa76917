package scenes

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"orrery/controller/gears"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

var twoWaysOf410 = Scene{
	Name:    "two-ways-of-410",
	Summary: "a 410 as the code of an answer, and as an event inside of a 200 stream",
	Happens: "The watch of an informer breaks twice, and its position has expired. The first time, a gateway answers with code 410. The second time, the server answers with 200 and sends an ERROR event.",
	Look:    "Watch the code of the answer, what is in the stream, and that the reflector does the same both times.",
	Options: stage.Options{Bare: true, Unused: []gate.ID{gate.G1, gate.G3, gate.G4}}, // lists only, and no handler
	Lesson: display.Lesson{
		Learnt: []string{
			"An HTTP answer has one code, sent before the first event. What goes wrong later has to come as an event: its type is ERROR, and its object is a Status.",
			"An API server answers a watch from an expired position with 200 and a single ERROR event. Its code 410 is in the Status, not in the answer.",
			"A gateway, or a list whose next page has expired, answers with code 410. A client has to know both ways.",
			"After both, the position is useless, and only a new list helps. A decoder that drops the ERROR event would watch from the same position forever.",
		},
		Read: []display.Reading{
			{Gear: "restclient", Form: gears.Textbook, File: "restclient/watch_decoder.go", Why: "decodeError: from an ERROR event to a Status"},
			{Gear: "restclient", Form: gears.Fast, File: "restclient/fast/doc.go", Why: "the decoder that scans each event once"},
			{File: "restclient/api/statuserror.go", Why: "IsExpired: reason or code, each alone is enough"},
			{Gear: "reflector", Form: gears.Textbook, File: "informer/reflector/reflector.go", Why: "watchFailed: what follows a 410"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/table.go", Why: "what follows a 410, as a table"},
			{File: "workshop/labs/02-watch-decoder/README.md", Why: "the lab in which you write the decoder"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		w := &watched{on: on}
		obstacle := ""
		return inOrder(
			func() error { return w.start(ctx, "red", "green", "blue") },
			func() error {
				on.Enter("an answer with code 410", "a gateway answers the next watch itself")
				on.Tell(story.Demo, "a gateway between informer and server answers the next watch itself: HTTP 410, with a Status")
				w.on.AnswerNextWatch(http.StatusGone, "application/json",
					`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}`)
				return w.cut()
			},
			func() error { return w.recovered(ctx, 1) },
			func() (err error) {
				on.Enter("an event in a stream with code 200", "the server forgets its history while no watch is open")
				obstacle, err = on.Fault("delay:by=1m,verb=watch,user=" + stage.SpectatorsUser)
				return err
			},
			func() error { return w.cut() },
			func() error { return w.create(ctx, "white") },
			func() error { return wait.Sleep(ctx, look) },
			func() error { _, err := on.Fault("compact"); return err },
			func() error { on.Repair(obstacle); return w.recovered(ctx, 2) },
			func() error { return w.prove() },
		)
	},
}

// refusal is how the server, or a gateway, refuses a watch, and what the reflector does.
type refusal struct {
	answer int      // the HTTP code of the answer
	stream []string // the types of the events in it
	err    error    // for which the reflector gives up its position
	listed string   // the list that follows
}

// watched is an informer whose watch is refused.
type watched struct {
	on       *stage.Stage
	informer *stage.Informer
	made     int // objects

	refusals []*refusal // guarded by the teller's lock
}

// start creates the objects and starts the informer.
func (w *watched) start(ctx context.Context, names ...string) error {
	w.on.Enter("the first list", "the informer lists and then watches")
	if err := w.on.CreateNamespace(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := w.create(ctx, name); err != nil {
			return err
		}
	}
	client, err := w.on.NewClient(&restclient.Trace{RequestDone: w.answered, WatchFrame: w.frame})
	if err != nil {
		return err
	}
	w.informer = w.on.NewInformer(client, informer.Config[*api.PartialObjectMetadata]{Reflector: reflector.Config[*api.PartialObjectMetadata]{
		Trace: &reflector.Trace{Expired: w.expired, Listed: w.listed},
	}})
	if err := w.on.RunInformer(ctx, w.informer); err != nil {
		return err
	}
	return wait.Sleep(ctx, 2*look)
}

// create creates a configmap.
func (w *watched) create(ctx context.Context, name string) error {
	w.made++
	return w.on.CreateConfigMap(ctx, name)
}

// cut breaks the watch; the next refusal is recorded.
func (w *watched) cut() error {
	w.on.Teller().Update(func(*story.State) { w.refusals = append(w.refusals, &refusal{}) })
	_, err := w.on.Fault("cut-watches")
	return err
}

// update changes the last refusal, if there is one, and shows all of them.
func (w *watched) update(change func(s *story.State, r *refusal)) {
	w.on.Teller().Update(func(s *story.State) {
		if len(w.refusals) == 0 {
			return
		}
		change(s, w.refusals[len(w.refusals)-1])
		for i, r := range w.refusals {
			way := fmt.Sprintf("way %d: ", i+1)
			s.Show(way+"answer", "%d %s", r.answer, http.StatusText(r.answer))
			s.Show(way+"stream", "%s", cmp.Or(strings.Join(r.stream, ", "), "none"))
			if r.err != nil {
				s.Show(way+"Status", "%d %s", api.CodeOf(r.err), api.ReasonOf(r.err))
				s.Show(way+"then", "%s", cmp.Or(r.listed, "list again, after a back-off"))
			}
		}
	})
}

// answered is called with the code of each answer, frame with each event of a watch.
func (w *watched) answered(info restclient.RequestInfo, result restclient.RequestResult) {
	if info.Verb != "watch" || result.Code == 0 {
		return
	}
	w.update(func(s *story.State, r *refusal) {
		if r.err == nil {
			r.answer = result.Code
			s.Tell(story.Server, "the watch is answered with HTTP %d %s", result.Code, http.StatusText(result.Code))
		}
	})
}

func (w *watched) frame(_ restclient.RequestInfo, event api.WatchEventType, bytes int) {
	w.update(func(s *story.State, r *refusal) {
		if r.err == nil {
			r.stream = append(r.stream, string(event))
			s.Tell(story.Server, "an event in the stream: %s, %d bytes", event, bytes)
		}
	})
}

// expired and listed are hooks of the reflector.
func (w *watched) expired(_ string, err error) {
	w.update(func(_ *story.State, r *refusal) { r.err = err })
}

func (w *watched) listed(info reflector.ListInfo) {
	w.update(func(_ *story.State, r *refusal) {
		if r.err != nil {
			r.listed = fmt.Sprintf("a list of %s", story.Count(info.Items, "object"))
		}
	})
}

// recovered waits for the list after a refusal.
func (w *watched) recovered(ctx context.Context, refusals int) error {
	listed := func(*story.State) bool { return len(w.refusals) == refusals && w.refusals[refusals-1].listed != "" }
	if err := soon(ctx, w.on.Teller(), "a new list after the 410", listed); err != nil {
		return err
	}
	return wait.Sleep(ctx, 2*look)
}

// prove compares both ways.
func (w *watched) prove() (err error) {
	stored := w.informer.GetIndexer().Len()
	w.on.Teller().Update(func(s *story.State) {
		for i, r := range w.refusals {
			s.Figure(fmt.Sprintf("way %d", i+1), "HTTP %d, events: %s; Status %d %s; then %s", r.answer,
				cmp.Or(strings.Join(r.stream, ", "), "none"), api.CodeOf(r.err), api.ReasonOf(r.err), r.listed)
		}
		s.Figure("in the store", "%d of %s", stored, story.Count(w.made, "object"))
		first, second := w.refusals[0], w.refusals[1]
		err = cmp.Or(
			bench.Prove("code of the first answer", http.StatusGone, first.answer), bench.Prove("events of the first", 0, len(first.stream)),
			bench.Prove("code of the second answer", http.StatusOK, second.answer),
			bench.Prove("events of the second", string(api.WatchError), strings.Join(second.stream, ", ")),
			bench.Prove("code in both", fmt.Sprint(http.StatusGone, http.StatusGone), fmt.Sprint(api.CodeOf(first.err), api.CodeOf(second.err))),
			bench.Prove("objects in the store", w.made, stored),
		)
	})
	return err
}
