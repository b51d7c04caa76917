package demo

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/restclient/api"
)

var twoWaysOf410 = Scene{
	Name: "two-ways-of-410",
	Options: Options{
		Bare:   true,
		Unused: []gate.ID{gate.G1, gate.G3, gate.G4}, // lists only, and no handler
		Follow: []string{"restclient.requestDone"},
	},
	play: playTwoWaysOf410,
}

func playTwoWaysOf410(on *Stage, ctx context.Context) error {
	w := &watched{}
	return script(
		begin("the first list", "the informer lists and then watches"),
		createAll("red", "green", "blue"),
		startInformer(&restclient.Trace{WatchFrame: w.frame(on)}),
		pause(2*look),
		do(func(on *Stage) {
			on.Enter("an answer with code 410", "a gateway answers the next watch itself")
			on.Tell(story.Demo, "a gateway between informer and server answers the next watch itself: HTTP 410, "+
				"with a Status")
			on.AnswerNextWatch(http.StatusGone, "application/json",
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,`+
					`"message":"too old"}`)
		}),
		w.cut,
		w.recovered(1, http.StatusGone, "none"),
		begin("an event in a stream with code 200", "the server forgets its history while no watch is open"),
		during("delay:by=1m,verb=watch,user="+spectatorsUser,
			w.cut, create("white"), pause(look), fault("compact")),
		w.recovered(2, http.StatusOK, string(api.WatchError)),
	)(on, ctx)
}

// watched is what happens to an informer's watch.
type watched struct {
	before uint64 // the number of answers before the refusal
	failed string // the type of the event that ended the stream; guarded by the teller's lock
}

// frame returns what is called with each event of a watch.
func (w *watched) frame(on *Stage) func(restclient.RequestInfo, api.WatchEventType, int) {
	return func(_ restclient.RequestInfo, event api.WatchEventType, bytes int) {
		if event == api.WatchError {
			on.Teller.Update(func(s *story.State) {
				w.failed = string(event)
				s.Tell(story.Server, "an event in the stream: %s, %d bytes", event, bytes)
			})
		}
	}
}

// cut breaks the watch; the next one is refused.
func (w *watched) cut(on *Stage, ctx context.Context) error {
	w.before = answered(on)
	return fault("cut-watches")(on, ctx)
}

// recovered waits for the list after a refusal, and compares the refusal with what it should be.
func (w *watched) recovered(way, code int, event string) step {
	listed := func(s *trace.State) bool { return informerOf(s).Reflector.Lists > uint64(way) }
	return script(awaitRun("a new list after the 410", listed), func(on *Stage, _ context.Context) (err error) {
		on.Teller.Update(func(s *story.State) {
			i, answer, seen := informerOf(s.Run), answersSince(s.Run, w.before)[0], cmp.Or(w.failed, "none")
			reason, _, _ := strings.Cut(i.Reflector.Err, ":")
			text := s.Say("HTTP %d, events: %s; Status 410 %s; then a list of %d object[s]", answer.Code, seen, reason,
				i.Reflector.Items)
			s.Show(s.Say("way %d", way), "%s", text)
			s.Figure(s.Say("way %d", way), "%s", text)
			err = cmp.Or(
				bench.Prove("code of the answer", code, int(answer.Code)),
				bench.Prove("event of the stream", event, seen),
				bench.Prove("reason", "Expired", reason),
			)
		})
		return err
	}, pause(2*look))
}
