package logs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"orrery/controller/leaderelection"
	"orrery/nsctl"
	"orrery/restclient/api"
)

// namespaceController is the controller whose passes are logged here.
const namespaceController = "namespace-controller"

// namespaceLog logs the story of each deletion.
type namespaceLog struct{ passLog }

// Namespaces returns hooks that log the deletion of namespaces.
func (l *Logger) Namespaces() *nsctl.Trace {
	log := &namespaceLog{passLog{
		Logger: l, controller: namespaceController, stories: newStories(),
		fields: func(line *zerolog.Event, key string) *zerolog.Event { return line.Str("namespace", key) },
	}}
	return &nsctl.Trace{
		Enqueued: log.enqueued, PassContext: log.begun, PassStarted: log.started,
		WouldDelete: log.wouldDelete, Conflict: log.conflict, ConditionsUpdated: log.conditionsUpdated,
		ConditionsKept: log.conditionsKept, ConditionsFailed: log.conditionsFailed, Finalized: log.finalized,
		PassStuck: log.passStuck, PassPanicked: log.panicked, PassDone: log.passDone,
	}
}

func (l *namespaceLog) enqueued(namespace *api.Namespace, after time.Duration) {
	if l.stories.begin(namespace.Name, namespace.UID) {
		began := nsctl.DeletionBegan(namespace, time.Now())
		l.stories.of(namespace.Name, func(s *story) { s.began = began })
		l.Info().Str("namespace", namespace.Name).Dur("first_look_in_s", after).Msg("namespace is being deleted")
	}
}

func (l *namespaceLog) wouldDelete(namespace string, resource api.GroupVersionResource, found nsctl.Found, err error) {
	if err != nil || found == (nsctl.Found{}) {
		return // the end of the pass has the errors
	}
	numbers := fmt.Sprint(resource, found)
	l.news(zerolog.InfoLevel, namespace, numbers).Str("resource", resource.TypeName()).Int("items", found.ToDelete).
		Int("terminating", found.Terminating).Msg("dry run: would delete")
}

func (l *namespaceLog) conflict(namespace string, err error) {
	l.pass(namespace).Err(err).Msg("conflict, the namespace has changed, retrying on the new state")
}

func (l *namespaceLog) conditionsUpdated(namespace string, conditions []api.NamespaceCondition) {
	l.holders(namespace, conditions)
	l.stories.firstReport(namespace)
	l.conditions(namespace, conditions)
}

// conditionsKept logs, once, what another process has reported: this one was started, or has taken
// over, since.
func (l *namespaceLog) conditionsKept(namespace string, conditions []api.NamespaceCondition) {
	l.holders(namespace, conditions)
	if l.stories.firstReport(namespace) {
		l.conditions(namespace, conditions)
	}
}

// holders remembers whether finalizers hold content of a namespace.
func (l *namespaceLog) holders(namespace string, conditions []api.NamespaceCondition) {
	held := slices.ContainsFunc(conditions, func(c api.NamespaceCondition) bool {
		return c.Type == api.NamespaceFinalizersRemaining && c.Status == api.ConditionTrue
	})
	l.stories.of(namespace, func(s *story) { s.held = held })
}

func (l *namespaceLog) conditions(namespace string, conditions []api.NamespaceCondition) {
	for _, condition := range conditions {
		if condition.Status != api.ConditionTrue {
			continue
		}
		l.line(l.Info(), namespace).Str("condition", string(condition.Type)).
			Str("reason", condition.Reason).Str("detail", condition.Message).Msg("condition holds")
	}
}

func (l *namespaceLog) conditionsFailed(namespace string, err error) {
	if api.IsNotFound(err) || leaderelection.IsLost(err) {
		return // another controller has finalized it, or works now and reports
	}
	l.news(zerolog.WarnLevel, namespace, "report: "+fmt.Sprint(err)).Err(err).Msg("cannot report conditions")
}

// finalized logs a success. The end of the pass is logged after a failure.
func (l *namespaceLog) finalized(namespace string, err error) {
	if err != nil {
		return
	}
	line := l.line(l.Info(), namespace)
	l.stories.of(namespace, func(s *story) {
		if !s.began.IsZero() {
			line = line.Dur("after_s", rounded(time.Since(s.began)))
		}
	})
	line.Msg("namespace finalized")
}

// passStuck runs on a goroutine of its own, while the pass is in progress.
func (l *namespaceLog) passStuck(namespace string, running time.Duration, waiting int) {
	l.line(l.Warn(), namespace).Dur("running_s", rounded(running)).Int("waiting", waiting).
		Msg("pass is slow, a request is unanswered or there is much to do")
}

func (l *namespaceLog) passDone(namespace string, took time.Duration, failures int, err error) {
	defer l.passes.end(namespaceController, namespace)
	var remaining *nsctl.ResourcesRemainingError
	held := false
	l.stories.of(namespace, func(s *story) { held = s.held })
	switch {
	case err == nil:
		l.stories.end(namespace)
		l.pass(namespace).Dur("took_s", rounded(took)).Msg("pass done")
	case errors.As(err, &remaining) && held: // for how long, the error does not know
		l.news(zerolog.InfoLevel, namespace, "held").Dur("took_s", rounded(took)).
			Dur("next_look_in_s", remaining.RequeueAfter()).
			Msg("content remains, finalizers of other controllers hold it")
	case errors.As(err, &remaining):
		l.news(zerolog.InfoLevel, namespace, "remaining").Dur("took_s", rounded(took)).
			Int64("estimate_s", remaining.Estimate).Dur("next_look_in_s", remaining.RequeueAfter()).
			Msg("content remains and needs time")
	default:
		l.failed(namespace, took, failures, err)
	}
}
