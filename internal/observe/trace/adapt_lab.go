package trace

import (
	"context"
	"strings"
	"time"

	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// The methods of this page record what only the laboratory has. Its hooks are in packages that this
// one must not import.

// Scene records the beginning of a scene.
func (r *Recorder) Scene(name, arguments string) {
	r.put(record{hook: "lab.scene", a: name, b: clip(arguments)})
}

// Input records what a reader does to the run: an answer, or a command for the gates.
func (r *Recorder) Input(name, arguments string) {
	r.put(record{hook: "lab.input", a: name, b: clip(arguments)})
}

// Held records that a key waits at a gate, in the informer or queue of this name.
func (r *Recorder) Held(gate, in, key string) {
	r.put(record{hook: "lab.held", a: gate, in: in, key: key})
}

// Stepped records that one key was let through a gate.
func (r *Recorder) Stepped(gate, in, key string) {
	r.put(record{hook: "lab.stepped", a: gate, in: in, key: key})
}

// Released records that a gate was opened.
func (r *Recorder) Released(gate string) { r.put(record{hook: "lab.released", a: gate}) }

// Chapter records that a guided scene goes on to its next chapter.
func (r *Recorder) Chapter(name string) { r.put(record{hook: "lab.chapter", a: name}) }

// Question records that a guided scene asks; choices are the possible answers.
func (r *Recorder) Question(scene string, choices []string) {
	r.put(record{hook: "lab.question", a: scene, b: strings.Join(choices, ChoiceSeparator)})
}

// ChoiceSeparator stands between the choices of a question.
const ChoiceSeparator = " | "

// Answer records the answer to a scene's question, as the recording has it.
func (r *Recorder) Answer(scene, answer string) {
	r.put(record{hook: "lab.answer", a: scene, b: clip(answer)})
}

// Queue returns the hooks of the work queue with this name.
func (r *Recorder) Queue(name string) *queue.Trace[string] {
	if r == nil {
		return nil
	}
	put := r.in(name)
	event := func(hook string) func(queue.Event[string]) {
		return func(e queue.Event[string]) { put(hook, record{key: e.Key, id: e.Seq}) }
	}
	timed := func(hook string) func(queue.Event[string], time.Duration) {
		return func(e queue.Event[string], d time.Duration) { put(hook, record{key: e.Key, took: d, id: e.Seq}) }
	}
	return &queue.Trace[string]{
		Added: event("queue.added"), Coalesced: event("queue.coalesced"), Refused: event("queue.refused"),
		Delayed: timed("queue.delayed"), DelayCanceled: event("queue.delayCanceled"),
		DelayEnded: timed("queue.delayEnded"),
		Got:        timed("queue.got"), Done: timed("queue.done"), DoneUnknown: event("queue.doneUnknown"),
		Retried: func(key string, requeues int, wait time.Duration) {
			put("queue.retried", record{key: key, n: int64(requeues), took: wait})
		},
		Forgotten: func(key string) { put("queue.forgotten", record{key: key}) },
		ShuttingDown: func(drain bool, dropped int) {
			put("queue.shuttingDown", record{n: int64(dropped), yes: drain})
		},
	}
}

// Namespaces returns the hooks of the namespace controller. Join them last: they read the name of a
// pass from the context that the hooks before have made.
func (r *Recorder) Namespaces() *nsctl.Trace {
	if r == nil {
		return nil
	}
	failing := func(hook string) func(string, error) {
		return func(namespace string, err error) { r.put(record{hook: hook, key: namespace, err: err}) }
	}
	content := func(hook string) func(string, api.GroupVersionResource, int, error) {
		return func(namespace string, resource api.GroupVersionResource, n int, err error) {
			r.put(record{hook: hook, key: namespace, n: int64(n), err: err, a: resource.TypeName()})
		}
	}
	return &nsctl.Trace{
		Enqueued: func(ns *api.Namespace, after time.Duration) {
			r.put(record{hook: "nsctl.enqueued", key: ns.Name, took: after, a: string(ns.Status.Phase), b: ns.UID})
		},
		PassContext: func(ctx context.Context, namespace string) context.Context {
			r.put(record{hook: "nsctl.passContext", key: namespace, a: restclient.OriginOf(ctx)})
			return ctx
		},
		PassStarted: func(namespace string) { r.put(record{hook: "nsctl.passStarted", key: namespace}) },
		Discovered: func(namespace string, types int, err error) {
			r.put(record{hook: "nsctl.discovered", key: namespace, n: int64(types), err: err})
		},
		EmptinessChecked: func(ctx context.Context, types, seen int, took time.Duration) {
			r.put(record{
				hook: "nsctl.emptinessChecked", n: int64(types), m: int64(seen), took: took,
				a: restclient.OriginOf(ctx),
			})
		},
		TypeDeleted: content("nsctl.typeDeleted"),
		WouldDelete: func(ns string, resource api.GroupVersionResource, found nsctl.Found, err error) {
			content("nsctl.wouldDelete")(ns, resource, found.ToDelete+found.Terminating, err)
		},
		Conflict: failing("nsctl.conflict"), Finalized: failing("nsctl.finalized"),
		ConditionsFailed: failing("nsctl.conditionsFailed"),
		ConditionsUpdated: func(namespace string, conditions []api.NamespaceCondition) {
			for _, c := range conditions {
				r.put(record{
					hook: "nsctl.conditionsUpdated", in: c.Reason, key: namespace,
					a: string(c.Type), b: string(c.Status), c: c.Message,
				})
			}
		},
		PhaseStarted: func(namespace string, phase nsctl.Phase) {
			r.put(record{hook: "nsctl.phaseStarted", key: namespace, a: string(phase)})
		},
		PhaseDone: func(namespace string, phase nsctl.Phase, took time.Duration) {
			r.put(record{hook: "nsctl.phaseDone", key: namespace, took: took, a: string(phase)})
		},
		PassStuck: func(namespace string, running time.Duration, waiting int) {
			r.put(record{hook: "nsctl.passStuck", key: namespace, n: int64(waiting), took: running})
		},
		PassPanicked: func(namespace string, _ *wait.Panic) {
			r.put(record{hook: "nsctl.passPanicked", key: namespace})
		},
		PassDone: func(namespace string, took time.Duration, failures int, err error) {
			r.put(record{hook: "nsctl.passDone", key: namespace, n: int64(failures), took: took, err: err})
		},
		Gone: func(namespace string, took time.Duration) {
			r.put(record{hook: "nsctl.gone", key: namespace, took: took})
		},
	}
}
