package stage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/nsctl"
	"orrery/restclient/api"
)

// narrator tells what the namespace controller does with the namespace.
type narrator struct {
	teller *story.Teller

	// What follows is used under the teller's lock.

	// due is when the namespace is looked at next, by the story's clock; 0 if nothing is planned.
	due time.Duration
	// why says what is waited for.
	why string
	// failures counts the passes that failed one after the other, lastFailure is what the last one said.
	failures    int
	lastFailure string
	// gone are the types that are known to be gone.
	gone map[string]bool
	// holds are the conditions of the last report that hold, with their messages.
	holds map[string]string
	// backOff is the wait that the rate limiter ordered last.
	backOff time.Duration
}

func newNarrator(teller *story.Teller) *narrator {
	return &narrator{teller: teller, gone: map[string]bool{}}
}

// The stages of a deletion, for the summary.
const (
	stageGrace   = "grace period"
	stageWaiting = "waiting for what is left"
	stageRetries = "back-off between passes that fail"
)

// trace are the hooks of the controller.
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

// about changes the state if it is the namespace of the story that something happens to; others may be deleted as well.
func (n *narrator) about(namespace string, change func(*story.State)) {
	if namespace == Namespace {
		n.teller.Update(change)
	}
}

func (n *narrator) enqueue(namespace *api.Namespace, after time.Duration) {
	n.about(namespace.Name, func(s *story.State) {
		if n.why == "" {
			n.why = stageGrace
			s.Tell(story.Handler, "%s has a deletionTimestamp: it is to be looked at in %s, after the grace period", namespace.Name, short(after))
			return
		}
		s.Tell(story.Handler, "the controller hears of its own report: %s has changed; look at it in %s at the latest", namespace.Name, short(after))
	})
}

func (n *narrator) passStarted(namespace string) {
	n.about(namespace, func(s *story.State) {
		s.Gears.Passes++
		n.due = 0
		if n.failures > 0 {
			s.Enter(stageRetries, fmt.Sprintf("pass %d: the controller tries again", s.Gears.Passes), 0)
			return
		}
		s.Tell(story.Worker, "takes %s from the queue: pass %d begins", namespace, s.Gears.Passes)
		s.Enter(fmt.Sprintf("pass %d", s.Gears.Passes), fmt.Sprintf("pass %d: pods first, then everything else, and with nothing left, the namespace", s.Gears.Passes), 0)
	})
}

func (n *narrator) discovered(namespace string, types int, err error) {
	n.about(namespace, func(s *story.State) {
		switch {
		case err != nil && n.failures == 0:
			s.Tell(story.Deleter, "asks which types there are: %d are known, and something is missing: %v", types, err)
		case err == nil && s.Gears.Passes == 1:
			s.Tell(story.Deleter, "asks which types there are: %d may have objects in a namespace", types)
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
			s.Tell(story.Deleter, "%s: told to go in one request; %d of %d are still there", name, remaining, max(bar.Most, remaining))
		case err == nil && remaining == 0 && known && bar.Most > 0 && !n.gone[name]:
			n.gone[name] = true
			s.Tell(story.Deleter, "%s: none is left of %d", name, bar.Most)
		}
	})
}

func (n *narrator) conflict(namespace string, err error) {
	n.about(namespace, func(s *story.State) {
		s.Gears.Conflicts++
		s.Tell(story.Deleter, "409 Conflict: somebody else was faster. It reads %s again, makes sure by the UID that it is still the same, and repeats the change", namespace)
	})
}

// conditionsUpdated tells what the report says that the one before did not.
func (n *narrator) conditionsUpdated(namespace string, conditions []api.NamespaceCondition) {
	n.about(namespace, func(s *story.State) {
		holds := map[string]string{}
		var over []string
		for _, c := range conditions {
			name := string(c.Type)
			if c.Status == api.ConditionTrue {
				holds[name] = c.Message
				if n.holds[name] != c.Message {
					s.Tell(story.Deleter, "reports in the status: %s: %s", name, c.Message)
				}
			} else if n.holds[name] != "" {
				over = append(over, name)
			}
		}
		n.holds = holds
		switch {
		case len(holds) == 0:
			s.Tell(story.Deleter, "reports in the status that nothing is in the way any more")
		case len(over) > 0:
			s.Tell(story.Deleter, "reports in the status what holds no longer: %s", strings.Join(over, ", "))
		}
	})
}

func (n *narrator) conditionsFailed(namespace string, err error) {
	if api.IsNotFound(err) {
		return
	}
	n.about(namespace, func(s *story.State) { s.Tell(story.Deleter, "cannot report: %s; the deletion goes on", reason(err)) })
}

func (n *narrator) finalized(namespace string, err error) {
	n.about(namespace, func(s *story.State) {
		if err != nil {
			s.Tell(story.Deleter, "cannot finalize %s: %s", namespace, reason(err))
			return
		}
		then := "the server lets it go"
		if slices.ContainsFunc(s.Namespace.Finalizers, func(token string) bool { return token != api.FinalizerKubernetes }) {
			then = "another party still holds it"
		}
		s.Tell(story.Deleter, `nothing is left: takes "kubernetes" out of spec.finalizers of %s through /finalize; %s`, namespace, then)
	})
}

// forget makes the next namespace of that name a new story.
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
			s.Tell(story.Worker, "pass %d is over after %s: nothing more to do. Forget, Done", s.Gears.Passes, short(took))
		case errors.As(err, &remaining):
			n.failures = 0
			s.Tell(story.Worker, "pass %d is over after %s: content remains and needs time, %d s by estimate. It looks again after half of that and one second: in %s",
				s.Gears.Passes, short(took), remaining.Estimate, short(remaining.RequeueAfter()))
			n.wait(s, stageWaiting)
		default:
			n.passFailed(s, namespace, failures, err)
		}
	})
}

// passFailed tells the first of several equal failures in full and the others in one line each.
func (n *narrator) passFailed(s *story.State, namespace string, failures int, err error) {
	s.Gears.Failures++
	n.failures = failures
	text := strings.TrimSpace(err.Error())
	if text == n.lastFailure {
		s.Tell(story.Worker, "pass %d fails for the same reason; AddRateLimited: again in %s", s.Gears.Passes, short(n.backOff))
	} else {
		s.Tell(story.Worker, "pass %d fails: %s. AddRateLimited: again in %s, and twice as long after each failure", s.Gears.Passes, text, short(n.backOff))
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

// waitingTexts say why it takes so long, in what fits on two lines of a small terminal.
var waitingTexts = map[string]string{
	stageGrace:   "until the first look: another API server may not have heard of the deletion yet, and still let objects in",
	stageWaiting: "until the next look: what is left needs time, and asking more often would not make it shorter",
	stageRetries: "until the next attempt: each failure doubles the wait, so that a broken server is not hammered",
}
