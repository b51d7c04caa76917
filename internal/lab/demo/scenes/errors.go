package scenes

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

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

var errorsScene = Scene{
	Name:    "errors",
	Summary: "each refusal with its decision: repeat, list again, or give up",
	Happens: "A client and an informer get seven refusals. Two of them come from a gateway, and three of the messages mislead.",
	Look:    "Watch code and reason of each answer beside the decision. The same code leads to different decisions, and no message changes one.",
	Options: stage.Options{Bare: true, Unused: []gate.ID{gate.G1, gate.G2, gate.G3, gate.G4}}, // it is about requests
	Lesson: display.Lesson{
		Learnt: []string{
			"A program decides by the reason of a refusal, and by its code if there is no reason, as in the page of a gateway. The message is for people.",
			"A refusal with a delay, such as 429 with Retry-After, is about the moment: the client waits and sends the same request again.",
			"409 has two reasons. AlreadyExists ends the matter; after Conflict the caller reads the object again and repeats its change.",
			"410 means that the position is too old. Waiting does not help; the reflector lists again.",
		},
		Read: []display.Reading{
			{File: "restclient/api/statuserror.go", Why: "NewStatusError, ReasonOf, IsExpired, RetryAfterOf"},
			{File: "restclient/retry.go", Why: "which requests the client repeats itself"},
			{File: "informer/reflector/errors.go", Why: "CauseOf: what an error means for a reflector"},
			{Gear: "reflector", Form: gears.Textbook, File: "informer/reflector/reflector.go", Why: "watchFailed: the same position, or a list"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/table.go", Why: "the recovery from each failure, as a table"},
			{File: "workshop/labs/01-errors/README.md", Why: "the lab in which you write these functions"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		r := &refused{on: on}
		if err := r.open(ctx); err != nil {
			return err
		}
		send := func(verb, name string) func() error { return func() error { return on.Request(ctx, verb, name) } }
		return inOrder(
			func() error { return r.fault("too-many-requests:count=1,retry-after=1s,verb=create") },
			func() error { return r.request(ctx, "create red", send("create", "red")) },
			func() error { return r.request(ctx, "create red again", send("create", "red")) },
			func() error {
				return r.request(ctx, "delete green", send("delete", "green"))
			},
			func() error { return r.update(ctx) },
			func() error { return r.fault(`internal-error:count=1,verb=delete,message="red not found"`) },
			func() error {
				return r.request(ctx, "delete red", send("delete", "red"))
			},
			func() error { return r.watch(ctx) },
			func() error {
				const lie = "too old resource version: list again"
				return r.refuseWatch(ctx, "watch", lie, 3*time.Second, http.StatusTooManyRequests, "application/json",
					`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,`+
						`"message":"`+lie+`","details":{"retryAfterSeconds":3}}`)
			},
			func() error {
				const lie = "The service is busy. Please try again."
				return r.refuseWatch(ctx, "watch again", lie, 0, http.StatusGone, "text/html", "<h1>"+lie+"</h1>")
			},
			r.prove,
		)
	},
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

// wantDecisions are the decisions of the scene, in order.
var wantDecisions = []string{repeated, done, done, readAgain, later, samePlace, listAgain}

// refused is a client and an informer whose requests are refused.
type refused struct {
	on     *stage.Stage
	client *restclient.Client

	// The teller's lock guards the fields below.
	answer    error // the last refusal
	attempts  int   // answers to the current request
	lists     int
	watches   int
	waited    time.Duration // by the reflector, before it goes on
	decisions []string
}

func (r *refused) open(ctx context.Context) (err error) {
	trace := &restclient.Trace{
		RequestDone: func(_ restclient.RequestInfo, result restclient.RequestResult) {
			r.on.Teller().Update(func(s *story.State) {
				r.attempts++
				if api.CodeOf(result.Err) != 0 {
					r.answer = result.Err
					s.Tell(story.Server, "%s: %s", inShort(result.Err), result.Err)
				}
			})
		},
	}
	r.client, err = r.on.NewClient(trace)
	if err != nil {
		return err
	}
	return r.on.CreateNamespace(ctx)
}

// inShort returns code and reason of a refusal.
func inShort(err error) string { return fmt.Sprintf("%d %s", api.CodeOf(err), api.ReasonOf(err)) }

func (r *refused) fault(text string) error {
	_, err := r.on.Fault(text)
	return err
}

// request sends a request that is refused once, and decides as a controller does.
func (r *refused) request(ctx context.Context, what string, send func() error) error {
	r.on.Enter(what, what+": one request, and what follows the refusal")
	r.on.Teller().Update(func(s *story.State) { r.attempts, r.answer = 0, nil; s.Tell(story.You, "%s", what) })
	err := send()
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
	r.decide(what, decision)
	if err := wait.Sleep(ctx, look); err != nil || decision != later {
		return err
	}
	r.on.Tell(story.You, "%s, later", what)
	return send()
}

// decide records and shows a decision after the last refusal.
func (r *refused) decide(what, decision string) {
	r.on.Teller().Update(func(s *story.State) {
		r.decisions = append(r.decisions, decision)
		s.Show(what, "%-20s  %s", inShort(r.answer), decision)
		s.Tell(story.Demo, "%s after %s: %s", what, inShort(r.answer), decision)
		s.Figure(what, "%s, %s: %s", inShort(r.answer), story.Count(r.attempts, "request"), decision)
	})
}

// update changes an object after another client has changed it.
func (r *refused) update(ctx context.Context) error {
	read := func() error { return r.on.Request(ctx, "get", "red") }
	change := func() error { return r.on.Request(ctx, "update", "red") }
	return inOrder(
		read,
		func() error {
			r.on.Tell(story.Demo, "another client changes red after it was read")
			return r.on.LabelConfigMap(ctx, "red", "by", "another")
		},
		func() error { return r.request(ctx, "update red", change) },
		read,
		change,
	)
}

// watch starts the informer.
func (r *refused) watch(ctx context.Context) error {
	r.on.Enter("an informer starts", "an informer lists and watches")
	count := func(n *int) { r.on.Teller().Update(func(*story.State) { *n++ }) }
	informer := r.on.NewInformer(r.client, informer.Config[*api.PartialObjectMetadata]{Reflector: reflector.Config[*api.PartialObjectMetadata]{
		Trace: &reflector.Trace{
			BackOff: func(delay time.Duration, _ error) {
				r.on.Teller().Update(func(*story.State) { r.waited = delay })
			},
			Listed: func(reflector.ListInfo) { count(&r.lists) },
			WatchStarted: func(opts api.ListOptions) {
				if !opts.SendInitialEvents { // otherwise it is a list
					count(&r.watches)
				}
			},
		},
	}})
	if err := r.on.RunInformer(ctx, informer); err != nil {
		return err
	}
	return wait.Sleep(ctx, 2*look)
}

// refuseWatch breaks the watch, and the gateway answers the next one, asking for a delay. The
// decision is what the reflector does: a list or not.
func (r *refused) refuseWatch(ctx context.Context, what, message string, asked time.Duration, code int, contentType, body string) error {
	r.on.Enter(what, "the watch breaks, and a gateway answers the next one: will the reflector list again?")
	lists, watches := 0, 0
	r.on.Teller().Update(func(s *story.State) {
		r.attempts, r.waited, r.answer, lists, watches = 0, 0, nil, r.lists, r.watches
		s.Tell(story.Demo, "a gateway answers the next watch itself: HTTP %d, with the message %q", code, message)
	})
	r.on.AnswerNextWatch(code, contentType, body)
	if err := r.fault("cut-watches"); err != nil {
		return err
	}
	goesOn := func(*story.State) bool { return r.answer != nil && (r.lists > lists || r.watches > watches) }
	if err := soon(ctx, r.on.Teller(), "a list or a watch after the refusal", goesOn); err != nil {
		return err
	}
	if err := wait.Sleep(ctx, 2*look); err != nil {
		return err
	}
	decision, waited := samePlace, time.Duration(0)
	r.on.Teller().Update(func(s *story.State) {
		if waited = r.waited; r.lists > lists {
			decision = listAgain
		}
		if asked > 0 {
			s.Figure("delay of the "+what, "%v were requested, %v was the reflector's back-off", asked, waited.Round(10*time.Millisecond))
		}
	})
	r.decide(what, decision)
	return bench.Prove(fmt.Sprintf("back-off of at least %v", asked), true, waited >= asked)
}

func (r *refused) prove() error {
	return bench.Prove("decisions", strings.Join(wantDecisions, "; "), strings.Join(r.decisions, "; "))
}
