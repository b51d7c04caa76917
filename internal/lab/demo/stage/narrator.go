package stage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient/api"
)

// narrator reports what the namespace controller does to the namespace.
type narrator struct {
	teller *story.Teller

	// The teller's lock guards the fields below.

	// due is the time of the next pass on the story's clock; 0 if none is scheduled.
	due time.Duration
	// why is the reason for the current delay.
	why string
	// failures counts consecutive failed passes; lastFailure is the last one's error.
	failures    int
	lastFailure string
	// gone has the types that were seen empty.
	gone map[string]bool
	// holds has the true conditions of the last status update, with their messages.
	holds map[string]string
	// backOff is the rate limiter's last delay.
	backOff time.Duration
}

func newNarrator(teller *story.Teller) *narrator {
	return &narrator{teller: teller, gone: map[string]bool{}}
}

// The stages of a deletion, for the summary.
const (
	stageGrace   = "grace period"
	stageWaiting = "waiting for the remaining content"
	stageRetries = "back-off between failed passes"
)

func (n *narrator) trace() *nsctl.Trace {
	return &nsctl.Trace{
		Enqueued:          n.enqueue,
		PassStarted:       n.passStarted,
		Discovered:        n.discovered,
		TypeDeleted:       n.typeDeleted,
		Conflict:          n.conflict,
		ConditionsUpdated: n.conditionsUpdated,
		ConditionsFailed:  n.conditionsFailed,
		Finalized:         n.finalized,
		PassDone:          n.passDone,
		Gone:              n.forget,
	}
}

// about changes the state if namespace is the one of the story; others may be deleted at the same
// time.
func (n *narrator) about(namespace string, change func(*story.State)) {
	if namespace == Namespace {
		n.teller.Update(change)
	}
}

func (n *narrator) enqueue(namespace *api.Namespace, after time.Duration) {
	n.about(namespace.Name, func(s *story.State) {
		if n.why == "" {
			n.why = stageGrace
			s.Tell(story.Handler, "%s has a deletionTimestamp: its first pass is due in %s, after the grace period", namespace.Name, short(after))
			return
		}
		s.Tell(story.Handler, "%s has changed: its next pass is due in %s at the latest", namespace.Name, short(after))
	})
}

func (n *narrator) passStarted(namespace string) {
	n.about(namespace, func(s *story.State) {
		s.Gears.Passes++
		n.due = 0
		if n.failures > 0 {
			s.Enter(stageRetries, fmt.Sprintf("pass %d: the controller retries", s.Gears.Passes), 0)
			return
		}
		s.Tell(story.Worker, "takes %s from the queue: pass %d begins", namespace, s.Gears.Passes)
		s.Enter(fmt.Sprintf("pass %d", s.Gears.Passes), fmt.Sprintf("pass %d: pods first, then everything else, and then the namespace, if it is empty", s.Gears.Passes), 0)
	})
}

func (n *narrator) discovered(namespace string, types int, err error) {
	n.about(namespace, func(s *story.State) {
		switch {
		case err != nil && n.failures == 0:
			s.Tell(story.Deleter, "discovery: %d types are known, some are missing: %v", types, err)
		case err == nil && s.Gears.Passes == 1:
			s.Tell(story.Deleter, "discovery: %d namespaced types can be deleted", types)
		}
	})
}

func (n *narrator) typeDeleted(namespace string, resource api.GroupVersionResource, remaining int, err error) {
	n.about(namespace, func(s *story.State) {
		name := resource.Resource
		bar, known := s.TypeNamed(name)
		switch {
		case err != nil && n.failures == 0:
			s.Tell(story.Deleter, "%s: %s", name, reason(err))
		case remaining > 0 && n.failures == 0:
			s.Tell(story.Deleter, "%s: one deletecollection request; %d of %d remain", name, remaining, max(bar.Most, remaining))
		case err == nil && remaining == 0 && known && bar.Most > 0 && !n.gone[name]:
			n.gone[name] = true
			s.Tell(story.Deleter, "%s: all %d deleted", name, bar.Most)
		}
	})
}

func (n *narrator) conflict(namespace string, err error) {
	n.about(namespace, func(s *story.State) {
		s.Gears.Conflicts++
		s.Tell(story.Deleter, "409 Conflict: another client wrote first. The deleter reads %s again, compares the UID, and repeats its change", namespace)
	})
}

// conditionsUpdated reports the conditions that changed.
func (n *narrator) conditionsUpdated(namespace string, conditions []api.NamespaceCondition) {
	n.about(namespace, func(s *story.State) {
		holds := map[string]string{}
		var over []string
		for _, c := range conditions {
			name := string(c.Type)
			if c.Status == api.ConditionTrue {
				holds[name] = c.Message
				if n.holds[name] != c.Message {
					s.Tell(story.Deleter, "updates the status: %s: %s", name, c.Message)
				}
			} else if n.holds[name] != "" {
				over = append(over, name)
			}
		}
		n.holds = holds
		switch {
		case len(holds) == 0:
			s.Tell(story.Deleter, "updates the status: no condition blocks the deletion any more")
		case len(over) > 0:
			s.Tell(story.Deleter, "updates the status: no longer true: %s", strings.Join(over, ", "))
		}
	})
}

func (n *narrator) conditionsFailed(namespace string, err error) {
	if api.IsNotFound(err) {
		return
	}
	n.about(namespace, func(s *story.State) {
		s.Tell(story.Deleter, "cannot update the status: %s; the deletion goes on", reason(err))
	})
}

func (n *narrator) finalized(namespace string, err error) {
	n.about(namespace, func(s *story.State) {
		if err != nil {
			s.Tell(story.Deleter, "cannot finalize %s: %s", namespace, reason(err))
			return
		}
		then := "the server removes the namespace"
		if slices.ContainsFunc(s.Namespace.Finalizers, func(token string) bool { return token != api.FinalizerKubernetes }) {
			then = "another controller still holds it"
		}
		s.Tell(story.Deleter, `no content is left: removes "kubernetes" from spec.finalizers of %s through /finalize; %s`, namespace, then)
	})
}

// forget resets n for the next namespace of that name.
func (n *narrator) forget(namespace string, _ time.Duration) {
	n.about(namespace, func(*story.State) {
		n.due, n.why, n.failures, n.lastFailure = 0, "", 0, ""
		n.gone, n.holds = map[string]bool{}, nil
	})
}

func (n *narrator) passDone(namespace string, took time.Duration, failures int, err error) {
	n.about(namespace, func(s *story.State) {
		var remaining *nsctl.ResourcesRemainingError
		switch {
		case err == nil:
			n.failures = 0
			s.Tell(story.Worker, "pass %d ends after %s: nothing more to do. Forget, Done", s.Gears.Passes, short(took))
		case errors.As(err, &remaining):
			n.failures = 0
			s.Tell(story.Worker, "pass %d ends after %s: content remains, for an estimated %d s; the next pass is due in %s",
				s.Gears.Passes, short(took), remaining.Estimate, short(remaining.RequeueAfter()))
			n.wait(s, stageWaiting)
		default:
			n.passFailed(s, namespace, failures, err)
		}
	})
}

// passFailed reports the first of several equal failures in full and each other one in one line.
func (n *narrator) passFailed(s *story.State, namespace string, failures int, err error) {
	s.Gears.Failures++
	n.failures = failures
	text := strings.TrimSpace(err.Error())
	if text == n.lastFailure {
		s.Tell(story.Worker, "pass %d fails for the same reason; AddRateLimited: retry in %s", s.Gears.Passes, short(n.backOff))
	} else {
		s.Tell(story.Worker, "pass %d fails: %s. AddRateLimited: retry in %s; the delay doubles with each failure", s.Gears.Passes, text, short(n.backOff))
	}
	n.lastFailure = text
	n.wait(s, stageRetries)
}

// wait enters the stage of waiting for the next pass.
func (n *narrator) wait(s *story.State, why string) {
	n.why = why
	if n.due == 0 {
		return
	}
	s.Enter(why, waitingTexts[why], n.due-s.Elapsed)
}

// waitingTexts explain each delay, in at most two lines of a small terminal.
var waitingTexts = map[string]string{
	stageGrace:   "until the first pass: another API server may not know of the deletion yet, and still admit objects",
	stageWaiting: "until the next pass: the remaining content needs time, and more requests would not speed it up",
	stageRetries: "until the next retry: each failure doubles the delay, so that a broken server is not overloaded",
}

// queueTrace returns the hooks of the controller's queue. Callbacks of different goroutines may
// come out of order, so the counters may be negative for a moment.
func (n *narrator) queueTrace() *queue.Trace[string] {
	ready, busy := 0, 0
	show := func(s *story.State) { s.Gears.Ready, s.Gears.Busy = max(0, ready), max(0, busy) }
	return &queue.Trace[string]{
		Delayed: func(e queue.Event[string], wait time.Duration) {
			n.about(e.Key, func(s *story.State) { n.delayed(s, e.Key, wait) })
		},
		DelayEnded: func(e queue.Event[string], _ time.Duration) {
			n.about(e.Key, func(s *story.State) {
				s.Gears.Later = 0
				n.due = 0
				if n.failures == 0 {
					s.Tell(story.Queue, "the delay of %s is over: it is ready for a worker", e.Key)
				}
			})
		},
		Added: func(e queue.Event[string]) {
			n.about(e.Key, func(s *story.State) {
				s.Gears.Adds++
				ready++
				show(s)
			})
		},
		Coalesced: func(e queue.Event[string]) { n.about(e.Key, func(s *story.State) { s.Gears.Coalesced++ }) },
		Retried: func(key string, _ int, wait time.Duration) {
			n.about(key, func(s *story.State) {
				s.Gears.Retries++
				n.backOff = wait
			})
		},
		Got: func(e queue.Event[string], _ time.Duration) {
			n.about(e.Key, func(s *story.State) {
				s.Gears.Gets++
				ready--
				busy++
				show(s)
			})
		},
		Done: func(e queue.Event[string], _ time.Duration) {
			n.about(e.Key, func(s *story.State) {
				busy--
				show(s)
			})
		},
	}
}

// delayed records the time of the next pass. Of several times the queue keeps the earliest.
func (n *narrator) delayed(s *story.State, key string, wait time.Duration) {
	s.Gears.Delays++
	s.Gears.Later = 1
	due := s.Elapsed + wait
	const same = 20 * time.Millisecond
	if n.due != 0 && due > n.due-same {
		return // the earlier one stays
	}
	n.due = due
	if n.failures > 0 {
		return
	}
	s.Tell(story.Queue, "AddAfter: %s is delayed by %s", key, short(wait))
	if s.Gears.Busy == 0 {
		n.wait(s, n.why)
	}
}
