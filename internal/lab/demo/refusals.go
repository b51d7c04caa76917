package demo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

var errorsScene = Scene{
	Name: "errors",
	Options: Options{
		Bare:   true,
		Follow: []string{"restclient.requestDone"},
	},
	play: playErrors,
}

// The decisions.
const (
	repeated  = "the client repeats it after the delay"
	done      = "nothing is left to do"
	readAgain = "read again, repeat the change"
	later     = "try again later"
	samePlace = "watch again from the same position"
	listAgain = "list again"
)

func playErrors(on *Stage, ctx context.Context) error {
	client, err := on.NewClient(nil)
	if err != nil {
		return err
	}
	r := &refused{objects: on.ConfigMaps(client)}
	const late, busy = "too old resource version: list again", "The service is busy. Please try again."
	return script(
		(*Stage).CreateNamespace,
		fault("too-many-requests:count=1,retry-after=1s,verb=create"),
		r.request("create red", r.create),
		r.request("create red again", r.create),
		r.request("delete green", r.remove("green")),
		r.get, label("red", "by=another"),
		r.request("update red", r.update),
		r.get, r.update,
		fault(`internal-error:count=1,verb=delete,message="red not found"`),
		r.request("delete red", r.remove("red")),
		begin("an informer lists and watches"),
		startInformer(nil),
		pause(2*look),
		r.watch("watch", late, 3*time.Second, http.StatusTooManyRequests, "application/json",
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,`+
				`"message":"`+late+`","details":{"retryAfterSeconds":3}}`),
		r.watch("watch again", busy, 0, http.StatusGone, "text/html", "<h1>"+busy+"</h1>"),
		conclude(func(*Stage, *State) error {
			want := []string{repeated, done, done, readAgain, later, samePlace, listAgain}
			return bench.Prove("decisions", strings.Join(want, "; "), strings.Join(r.decisions, "; "))
		}),
	)(on, ctx)
}

// refused has the decisions after the refusals so far.
type refused struct {
	decisions []string
	objects   *restclient.Resource[*api.Unstructured] // of the client whose requests are refused
	red       *api.Unstructured                       // as get has read it
}

func (r *refused) create(_ *Stage, ctx context.Context) error {
	_, err := r.objects.Create(ctx, object("ConfigMap", "red"), api.UpdateOptions{})
	return err
}

func (r *refused) get(_ *Stage, ctx context.Context) (err error) {
	r.red, err = r.objects.Get(ctx, "red", api.GetOptions{})
	return err
}

func (r *refused) update(_ *Stage, ctx context.Context) error {
	_, err := r.objects.Update(ctx, r.red, api.UpdateOptions{})
	return err
}

func (r *refused) remove(name string) step {
	return func(_ *Stage, ctx context.Context) error { return r.objects.Delete(ctx, name, api.DeleteOptions{}) }
}

// request sends a request that is refused once, and decides as a controller does.
func (r *refused) request(what string, send step) step {
	return func(on *Stage, ctx context.Context) error {
		on.Enter(what + ": one request, and what follows the refusal")
		on.Tell(You, "%s", what)
		before := answered(on)
		err := send(on, ctx)
		decision := ""
		switch {
		case err == nil:
			decision = repeated
		case api.IsAlreadyExists(err), api.IsNotFound(err):
			decision = done
		case api.IsConflict(err):
			decision = readAgain
		case api.IsInternalError(err):
			decision = later
		}
		on.Update(func(s *State) { r.decide(s, what, before, decision) })
		if err := wait.Sleep(ctx, look); err != nil || decision != later {
			return err
		}
		on.Tell(You, "%s, later", what)
		return send(on, ctx)
	}
}

// decide records and shows a decision after the refusal among the requests since before.
func (r *refused) decide(s *State, what string, before uint64, decision string) {
	answers, refusal := answersSince(s.Run, before), ""
	for _, one := range answers {
		if one.Code >= http.StatusBadRequest {
			reason, _, _ := strings.Cut(one.Err, ":")
			refusal = fmt.Sprintf("%d %s", one.Code, reason)
		}
	}
	r.decisions = append(r.decisions, decision)
	s.Show(what, "%-20s  %s", refusal, decision)
	s.Tell(Demo, "%s after %s: %s", what, refusal, decision)
	s.Figure(what, "%s, %d request[s]: %s", refusal, len(answers), decision)
}

// watch breaks the watch, and a gateway answers the next one, asking for a delay. The decision is
// what the reflector does: a list or not.
func (r *refused) watch(what, message string, asked time.Duration, code int, contentType, body string) step {
	return func(on *Stage, ctx context.Context) error {
		on.Enter("the watch breaks, and a gateway answers the next one: will the reflector list again?")
		on.Tell(Demo, "a gateway answers the next watch itself: HTTP %d, with the message %q", code, message)
		before, begin, lists := answered(on), 0, uint64(0)
		on.Update(func(s *State) { begin, lists = len(s.Beats), informerOf(s.Run).Reflector.Lists })
		on.AnswerNextWatch(code, contentType, body)
		return script(
			fault("cut-watches"),
			awaitRun("a list or a watch after the refusal", func(s *trace.State) bool {
				return len(answersSince(s, before)) >= 2 && informerOf(s).Reflector.Open
			}),
			pause(2*look),
			conclude(func(_ *Stage, s *State) error {
				decision, waited := samePlace, int64(0)
				if informerOf(s.Run).Reflector.Lists > lists {
					decision = listAgain
				}
				for _, e := range told(s, begin, "reflector.backOff") {
					waited = e.Micros
				}
				r.decide(s, what, before, decision)
				return bench.Prove(fmt.Sprintf("back-off of at least %v", asked), true, waited >= asked.Microseconds())
			}),
		)(on, ctx)
	}
}

var twoWaysOf410 = Scene{
	Name: "two-ways-of-410",
	Options: Options{
		Bare:   true,
		Follow: []string{"restclient.requestDone"},
	},
	play: playTwoWaysOf410,
}

func playTwoWaysOf410(on *Stage, ctx context.Context) error {
	before, failed := uint64(0), "none" // the answers before the refusal; the type of the event that ended the stream
	cut := script(do(func(on *Stage) { before = answered(on) }), fault("cut-watches"))
	frame := func(_ restclient.RequestInfo, event api.WatchEventType, bytes int) {
		if event == api.WatchError {
			on.Update(func(s *State) {
				failed = string(event)
				s.Tell(Server, "an event in the stream: %s, %d bytes", event, bytes)
			})
		}
	}
	// recovered waits for the list after a refusal, which must have had this code and this event.
	recovered := func(way, code int, event string) step {
		listed := func(s *trace.State) bool { return informerOf(s).Reflector.Lists > uint64(way) }
		return script(awaitRun("a new list after the 410", listed), conclude(func(_ *Stage, s *State) error {
			i, answer := informerOf(s.Run), answersSince(s.Run, before)[0]
			reason, _, _ := strings.Cut(i.Reflector.Err, ":")
			text := s.Say("HTTP %d, events: %s; Status 410 %s; then a list of %d object[s]", answer.Code,
				failed, reason,
				i.Reflector.Items)
			s.Show(s.Say("way %d", way), "%s", text)
			s.Figure(s.Say("way %d", way), "%s", text)
			return cmp.Or(
				bench.Prove("code of the answer", code, int(answer.Code)),
				bench.Prove("event of the stream", event, failed),
				bench.Prove("reason", "Expired", reason),
			)
		}), pause(2*look))
	}
	return script(
		begin("the informer lists and then watches"),
		createAll("red", "green", "blue"),
		startInformer(&restclient.Trace{WatchFrame: frame}),
		pause(2*look),
		begin("a gateway answers the next watch itself"),
		tell(Demo,
			"a gateway between informer and server answers the next watch itself: HTTP 410, with a Status"),
		do(func(on *Stage) {
			on.AnswerNextWatch(http.StatusGone, "application/json",
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,`+
					`"message":"too old"}`)
		}),
		cut,
		recovered(1, http.StatusGone, "none"),
		begin("the server forgets its history while no watch is open"),
		during("delay:by=1m,verb=watch,user="+spectatorsUser,
			cut, create("white"), pause(look), fault("compact")),
		recovered(2, http.StatusOK, string(api.WatchError)),
	)(on, ctx)
}
