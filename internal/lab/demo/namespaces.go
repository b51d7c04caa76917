package demo

import (
	"context"
)

var deletion = Scene{
	Name: Default,
	play: script(
		chapter("fill", ""),
		toFinalizers(ask, chapter("deleted", "")),
		await(reported("NamespaceFinalizersRemaining")),
		pause(look),
		(*Stage).ReleaseFinalizers,
		gone,
		reveal,
	),
}

var finalizer = Scene{
	Name: "finalizer",
	play: func(on *Stage, ctx context.Context) error {
		passes := 0 // before those that find nothing new
		idle := func(s *State) bool { return s.Gears.Busy == 0 }
		return script(
			chapter("fill", ""),
			toFinalizers(ask, chapter("deleted", "")),
			await(reported("NamespaceFinalizersRemaining")),
			do(func(on *Stage) { passes = on.State().Gears.Passes }),
			(*Stage).ShowWhy,
			await(idle),
			reveal,
			await(func(s *State) bool { return s.Gears.Passes > passes && idle(s) }),
			pause(look),
			tell(Operator, "starts at last"),
			(*Stage).ReleaseFinalizers,
			gone,
		)(on, ctx)
	},
}

var stuck = Scene{
	Name: "stuck",
	play: script(
		(*Stage).Fill,
		pause(look),
		during("node-lost",
			(*Stage).DeleteNamespace,
			await(reported("NamespaceContentRemaining")),
			(*Stage).ShowWhy,
			tell(Demo, "the conditions name pods only; the crontabs wait behind them, and the controller has "+
				"not touched them yet"),
			pause(2*look),
		),
		tell(Demo, "the node is back"),
		emptied,
		await(reported("NamespaceFinalizersRemaining")),
		(*Stage).ShowWhy,
		pause(look),
		(*Stage).ReleaseFinalizers,
		gone,

		(*Stage).Fill,
		await(func(s *State) bool { return s.Total().Left == s.Total().Most }), // the spectators have seen it all
		pause(look),
		during("webhook-unreachable:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps",
			(*Stage).DeleteNamespace,
			await(reported("NamespaceDeletionContentFailure")),
			(*Stage).ShowWhy,
			pause(2*look),
		),
		tell(Demo, "the webhook answers again"),
		emptied,
		(*Stage).ReleaseFinalizers,
		gone,
	),
}

// attemptsShown is the number of failed passes before the APIService is deleted; the last delays
// are seconds long.
const attemptsShown = 11

var brokenAPIService = Scene{
	Name: "broken-apiservice",
	play: script(
		chapter("broken", ""),
		(*Stage).BreakAPI,
		(*Stage).Fill,
		pause(look),
		ask,
		chapter("deleted", ""),
		(*Stage).DeleteNamespace,
		emptied,
		(*Stage).ReleaseFinalizers,
		await(reported("NamespaceDeletionDiscoveryFailure")),
		(*Stage).ShowWhy,
		await(func(s *State) bool { return len(s.Namespace.Conditions) <= 1 && s.Gears.Busy == 0 }),
		reveal,
		(*Stage).ShowAPI,
		await(func(s *State) bool { // the user may have deleted the APIService
			return s.Namespace.Phase == Gone || s.Gears.Retries >= attemptsShown
		}),
		pause(look),
		(*Stage).DeleteAPI,
		gone,
	),
}

// deletedUnseen is how many objects are deleted at most while no watch is open.
const deletedUnseen = 20

var expiredWatch = Scene{
	Name:    "expired-watch",
	Options: Options{Reported: []string{"configmaps"}},
	play: func(on *Stage, ctx context.Context) error {
		vanished := 0
		return script(
			chapter("fill", ""),
			(*Stage).Fill,
			pause(look),
			tell(Demo, "the server cuts all watches of the controller and the spectators, and delays new ones"),
			chapter("blind", ""),
			begin("all watches are cut and new ones do not get through: no informer sees what happens now"),
			during("delay:by=1h,verb=watch,user="+controllerUser+"|"+spectatorsUser,
				fault("cut-watches"),
				await(func(s *State) bool { return s.Gears.Open == 0 }),
				func(on *Stage, ctx context.Context) (err error) {
					vanished, err = on.DeleteSome(ctx, deletedUnseen)
					return err
				},
				(*Stage).DeleteNamespace,
				pause(look),
				fault("compact"),
				pause(look),
				ask,
				chapter("again", ""),
				tell(Demo, "the server accepts watches again; they ask for a resourceVersion that has been "+
					"compacted"),
				begin("410 Expired: the reflectors back off for a moment, each for another "+
					"time, and then list everything anew"),
			),
			await(func(s *State) bool { return s.Gears.Tombstones >= vanished }),
			reveal,
			emptied,
			(*Stage).ReleaseFinalizers,
			gone,
		)(on, ctx)
	},
}

var slowHandler = Scene{
	Name: "slow-handler",
	play: script(
		chapter("two", ""),
		tell(Demo, "a second handler is added to the informer of configmaps; it takes %v for each event",
			slowness),
		addSlowHandler,
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
		(*Stage).ReleaseFinalizers,
		gone,
		quickOneIsDone(4),
		tellPending("the namespace has gone; %d stale events still wait for the slow handler, %d for the quick one"),
	),
}

// quickOneIsDone waits until the quick handler has processed so many events of each configmap.
func quickOneIsDone(events int) step {
	return await(func(s *State) bool {
		h := s.HandlerOf(QuickHandler)
		return h.Pending == 0 && h.Handled+h.Merged >= uint64(events*s.TypeNamed("configmaps").Most)
	})
}

// tellPending tells how many events wait for each handler of the configmaps.
func tellPending(format string) step {
	return update(func(s *State) {
		s.Tell(Handler, format, s.HandlerOf(SlowHandler).Pending, s.HandlerOf(QuickHandler).Pending)
	})
}
