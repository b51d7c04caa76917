package scenes

import (
	"context"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
)

// attemptsShown is the number of failed passes before the APIService is deleted; the last delays
// are seconds long.
const attemptsShown = 11

var brokenAPIService = Scene{
	Name:    "broken-apiservice",
	Summary: "a namespace hangs in Terminating because an aggregated API does not answer",
	Happens: "An APIService announces metrics.k8s.io, and the service behind it does not exist. The controller empties the namespace but cannot finalize it: the broken API may hold objects that it cannot see.",
	Look:    "Watch the delay between failed passes: 5 ms, doubled each time. At the end the demo deletes the APIService; kubectl delete apiservice v1beta1.metrics.k8s.io in another terminal does it sooner.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Unknown is not empty: while one group cannot be discovered, the controller deletes what it knows and does not finalize the namespace.",
			"The condition NamespaceDeletionDiscoveryFailure names the group. kubectl get apiservices shows which one is not Available, and why: False (ServiceNotFound).",
			"The queue's rate limiter retries a failed key after 5 ms, 10 ms, 20 ms, up to a minute; each key has its own delay.",
			"Delete an APIService that is no longer used instead of leaving it broken: kubectl delete apiservice ends the hang.",
		},
		Read: []display.Reading{
			{File: "restclient/discovery/discover.go", Why: "partial discovery: the groups that answered"},
			{File: "restclient/discovery/cached.go", Why: "why a deletion needs a fresh answer"},
			{File: "queue/ratelimiters.go", Why: "the delays between retries"},
			{File: "nsctl/errors.go", Why: "what the condition says"},
		},
	},
	play: script(
		chapter("broken", ""),
		(*stage.Stage).BreakAPI,
		(*stage.Stage).Fill,
		pause(look),
		ask,
		chapter("deleted", ""),
		(*stage.Stage).DeleteNamespace,
		emptied,
		(*stage.Stage).ReleaseFinalizers,
		await(reported("NamespaceDeletionDiscoveryFailure")),
		(*stage.Stage).ShowWhy,
		await(func(s *story.State) bool { return len(s.Namespace.Conditions) <= 1 && s.Gears.Busy == 0 }),
		reveal,
		(*stage.Stage).ShowAPI,
		await(func(s *story.State) bool {
			gone := s.Namespace.Phase == story.Gone // the user may have deleted the APIService
			return gone || s.Gears.Retries >= attemptsShown
		}),
		pause(look),
		(*stage.Stage).DeleteAPI,
		(*stage.Stage).AwaitGone,
	),
}

// deletedUnseen is how many objects are deleted at most while no watch is open.
const deletedUnseen = 20

var expiredWatch = Scene{
	Name:    "expired-watch",
	Summary: "all watches break, the server forgets its history, and nothing is lost",
	Happens: "All watches break. Before they are back, some configmaps and the namespace itself are deleted, and the server compacts its history: no watch can report these deletions.",
	Look:    "Watch the 410 that every reflector gets, and the tombstones: an object that is missing from the new list must have been deleted.",
	Options: stage.Options{Reported: []string{"configmaps"}},
	Lesson: display.Lesson{
		Learnt: []string{
			"A reflector resumes a broken watch from the last resourceVersion that it saw. If the server still has the history, no event is missed.",
			"If not, the server answers 410 Expired, and the reflector lists everything again. Replace compares the list with the store and adds a tombstone, DeletedFinalStateUnknown, for each missing object.",
			"Handlers that only enqueue keys do not notice: the deletion of the namespace arrived in a list, not as an event, and was processed all the same. That is what level-triggered means.",
		},
		Read: []display.Reading{
			{Gear: "reflector", Form: gears.Textbook, File: "informer/reflector/reflector.go", Why: "ListAndWatch: what a reflector does after a 410"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/table.go", Why: "the recovery from each failure, as a table"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/TRANSITIONS.md", Why: "the same as a diagram"},
			{Gear: "deltafifo", Form: gears.Textbook, File: "deltafifo/fifo.go", Why: "how a list becomes deltas and tombstones"},
			{Gear: "deltafifo", Form: gears.Fast, File: "deltafifo/fast/replace.go", Why: "how a list becomes deltas and tombstones"},
			{Gear: "deltafifo", Form: gears.InOrder, File: "deltafifo/inorder/fifo.go", Why: "how a list becomes deltas and tombstones"},
			{File: "informer/handle_deltas.go", Why: "the store decides between OnAdd and OnUpdate"},
		},
	},
	play: func(on *stage.Stage, ctx context.Context) error {
		vanished := 0
		return script(
			chapter("fill", ""),
			(*stage.Stage).Fill,
			pause(look),
			tell(story.Demo, "the server cuts all watches of the controller and the spectators, and delays new ones"),
			chapter("blind", ""),
			do(func(on *stage.Stage) {
				on.Enter("no watch is open",
					"all watches are cut and new ones do not get through: no informer sees what happens now")
			}),
			during("delay:by=1h,verb=watch,user="+stage.ControllerUser+"|"+stage.SpectatorsUser,
				fault("cut-watches"),
				await(func(s *story.State) bool { return s.Gears.Open == 0 }),
				func(on *stage.Stage, ctx context.Context) (err error) {
					vanished, err = on.DeleteSome(ctx, "configmaps", deletedUnseen)
					return err
				},
				(*stage.Stage).DeleteNamespace,
				pause(look),
				fault("compact"),
				pause(look),
				ask,
				chapter("again", ""),
				tell(story.Demo, "the server accepts watches again; they ask for a resourceVersion that has been "+
					"compacted"),
				do(func(on *stage.Stage) {
					on.Enter("catching up", "410 Expired: the reflectors back off for a moment, each for another "+
						"time, and then list everything anew")
				}),
			),
			await(func(s *story.State) bool { return s.Gears.Tombstones >= vanished }),
			reveal,
			emptied,
			(*stage.Stage).ReleaseFinalizers,
			(*stage.Stage).AwaitGone,
		)(on, ctx)
	},
}

// slowness is the slow handler's time per event.
const slowness = 100 * time.Millisecond

var slowHandler = Scene{
	Name:    "slow-handler",
	Summary: "a slow handler, and the rest of the controller that is not affected",
	Happens: "Two handlers listen to the informer of the configmaps. One only counts; the other takes 100 ms for each event, like a handler that calls a server.",
	Look:    "Watch the two lowest bars: the number of notifications that each handler has not processed. The slow handler's grows without bound; nothing else waits for it.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Every handler has its own buffer (pendingNotifications in client-go and in the textbook form), so a slow handler delays neither the store nor the other handlers nor the watch.",
			"The buffer has no bound. A handler that is always slower than the events fills the memory.",
			"Its notifications are stale: by now the objects are gone. This is why a handler should only add the key to a work queue, where a key waits once, and a worker should read the store.",
		},
		Read: []display.Reading{
			{Gear: "informer", Form: gears.Textbook, File: "informer/processor.go", Why: "how an event reaches all handlers, with one buffer each"},
			{Gear: "informer", Form: gears.Fast, File: "informer/fast/processor.go", Why: "how an event reaches all handlers, in batches that they share"},
			{Gear: "informer", Form: gears.Fast, File: "informer/fast/delivery_queue.go", Why: "the notifications that wait for one handler"},
			{Gear: "queue", Form: gears.Textbook, File: "queue/queue.go", Why: "why the work queue does not have this problem"},
			{Gear: "queue", Form: gears.Fast, File: "queue/fast/queue.go", Why: "why the work queue does not have this problem"},
			{File: "docs/operate/faults.md", Why: "what a stuck handler costs"},
		},
	},
	play: script(
		chapter("two", ""),
		tell(story.Demo, "a second handler is added to the informer of configmaps; it takes %v for each event",
			slowness),
		func(on *stage.Stage, _ context.Context) error { return on.AddSlowHandler("configmaps", slowness) },
		ask,
		chapter("events", ""),
		toFinalizers(
			labelAll("checked"),
			labelAll("approved"),
			quickOneIsDone(3),
			tellPending("configmaps: %d events wait for the slow handler, %d for the quick one"),
			reveal,
		),
		await(reported("NamespaceFinalizersRemaining")),
		(*stage.Stage).ReleaseFinalizers,
		(*stage.Stage).AwaitGone,
		quickOneIsDone(4),
		tellPending("the namespace has gone; %d stale events still wait for the slow handler, %d for the quick one"),
	),
}

// labelAll changes every configmap.
func labelAll(label string) step {
	return func(on *stage.Stage, ctx context.Context) error { return on.LabelAll(ctx, "configmaps", label) }
}

// quickOneIsDone waits until the quick handler has processed so many events of each configmap.
func quickOneIsDone(events int) step {
	return await(func(s *story.State) bool {
		configmaps, _ := s.TypeNamed("configmaps")
		h := handler(s, stage.QuickHandler)
		return h.Pending == 0 && h.Handled+h.Merged >= uint64(events*configmaps.Most)
	})
}

// tellPending tells how many events wait for each handler of the configmaps.
func tellPending(format string) step {
	return do(func(on *stage.Stage) {
		on.Teller().Update(func(s *story.State) {
			s.Tell(story.Handler, format, handler(s, stage.SlowHandler).Pending, handler(s, stage.QuickHandler).Pending)
		})
	})
}

// handler returns a handler of the configmaps.
func handler(s *story.State, name string) trace.HandlerState {
	for key, h := range informerOf(s.Run).Handlers {
		if strings.HasPrefix(key, name) {
			return *h
		}
	}
	return trace.HandlerState{}
}
