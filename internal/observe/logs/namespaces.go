package logs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// namespaceController is whose passes are told here.
const namespaceController = "namespace-controller"

// Namespaces returns hooks that tell how the deletion of namespaces goes.
func (l *Logger) Namespaces() *nsctl.Trace {
	log := &namespaceLog{Logger: l, stories: newStories()}
	return &nsctl.Trace{
		Enqueued: log.enqueued,
		PassContext: func(ctx context.Context, namespace string) context.Context {
			return l.passes.begin(ctx, namespaceController, namespace)
		},
		PassStarted:       log.passStarted,
		Discovered:        log.discovered,
		EmptinessChecked:  log.emptinessChecked,
		TypeDeleted:       log.typeDeleted,
		WouldDelete:       log.wouldDelete,
		Conflict:          log.conflict,
		ConditionsUpdated: log.conditionsUpdated,
		ConditionsFailed:  log.conditionsFailed,
		Finalized:         log.finalized,
		PassStuck:         log.passStuck,
		PassPanicked:      log.passPanicked,
		PassDone:          log.passDone,
	}
}

// namespaceLog tells the story of each deletion.
type namespaceLog struct {
	*Logger
	stories *stories
}

func (l *namespaceLog) enqueued(namespace *api.Namespace, after time.Duration) {
	if l.stories.begin(namespace.Name, namespace.UID) {
		l.Info().Str("namespace", namespace.Name).Dur("first_look_in_s", after).Msg("namespace is being deleted")
		return
	}
	l.at(verbosityPasses).Str("namespace", namespace.Name).Dur("next_look_in_s", after).Msg("namespace has changed")
}

func (l *namespaceLog) passStarted(namespace string) {
	l.line(l.at(verbosityPasses), namespace).Msg("pass started")
}

func (l *namespaceLog) discovered(namespace string, types int, err error) {
	if err != nil {
		// What the pass ends with tells everybody.
		l.line(l.at(verbosityPasses), namespace).Int("types", types).Err(err).Msg("discovery is incomplete, the namespace cannot be finalized yet")
		return
	}
	l.line(l.at(verbosityPasses), namespace).Int("types", types).Msg("resource types discovered")
}

func (l *namespaceLog) emptinessChecked(ctx context.Context, types, seen int, took time.Duration) {
	origin(restclient.OriginOf(ctx), l.at(verbosityPasses)).Int("types", types).Int("seen", seen).Dur("took_s", rounded(took)).Msg("several namespaces are in deletion: looked into all of them at once")
}

func (l *namespaceLog) typeDeleted(namespace string, resource api.GroupVersionResource, remaining int, err error) {
	switch {
	case err != nil:
		l.line(l.at(verbosityPasses), namespace).Str("resource", typeName(resource)).Err(err).Msg("deleting content failed")
	case remaining > 0:
		l.line(l.at(verbosityPasses), namespace).Str("resource", typeName(resource)).Int("remaining", remaining).Msg("content remains")
	default:
		l.line(l.at(verbosityEvents), namespace).Str("resource", typeName(resource)).Msg("content is gone")
	}
}

func (l *namespaceLog) wouldDelete(namespace string, resource api.GroupVersionResource, items int, err error) {
	switch {
	case err != nil:
		l.line(l.Warn(), namespace).Str("resource", typeName(resource)).Err(err).Msg("dry run: cannot see this content")
	case items > 0:
		l.line(l.Info(), namespace).Str("resource", typeName(resource)).Int("items", items).Msg("dry run: would delete")
	}
}

func (l *namespaceLog) conflict(namespace string, err error) {
	l.line(l.at(verbosityPasses), namespace).Err(err).Msg("somebody else changed the namespace, trying again on the new state")
}

func (l *namespaceLog) conditionsUpdated(namespace string, conditions []api.NamespaceCondition) {
	for _, condition := range conditions {
		if condition.Status != api.ConditionTrue {
			continue
		}
		l.line(l.Info(), namespace).Str("condition", string(condition.Type)).
			Str("reason", condition.Reason).Str("detail", condition.Message).Msg("condition holds")
	}
}

func (l *namespaceLog) conditionsFailed(namespace string, err error) {
	if api.IsNotFound(err) {
		return // somebody else has finalized it
	}
	l.line(l.Warn(), namespace).Err(err).Msg("cannot report conditions")
}

func (l *namespaceLog) finalized(namespace string, err error) {
	switch {
	case err == nil:
		l.line(l.Info(), namespace).Msg("namespace finalized")
	case !api.IsNotFound(err):
		l.line(l.at(verbosityPasses), namespace).Err(err).Msg("finalizing failed")
	}
}

// passStuck is told by a goroutine of its own, of a pass that is under way.
func (l *namespaceLog) passStuck(namespace string, running time.Duration, waiting int) {
	l.line(l.Warn(), namespace).Dur("running_s", rounded(running)).Int("waiting", waiting).Msg("pass takes long, a request is not answered or there is much to do")
}

func (l *namespaceLog) passPanicked(namespace string, err *wait.Panic) {
	l.line(l.Error(), namespace).Err(err).Bytes("stack", err.Stack).Msg("pass panicked, it is going to be repeated")
}

func (l *namespaceLog) passDone(namespace string, took time.Duration, failures int, err error) {
	defer l.passes.end(namespaceController, namespace)
	var remaining *nsctl.ResourcesRemainingError
	switch {
	case err == nil:
		l.stories.end(namespace)
		l.line(l.at(verbosityPasses), namespace).Dur("took_s", rounded(took)).Msg("pass done")
	case errors.As(err, &remaining):
		l.line(l.news(zerolog.InfoLevel, namespace, "remaining"), namespace).Dur("took_s", rounded(took)).Int64("estimate_s", remaining.Estimate).
			Dur("next_look_in_s", remaining.RequeueAfter()).Msg("content remains and needs time")
	case errors.Is(err, nsctl.ErrCutShort):
		l.line(l.Warn(), namespace).Dur("took_s", rounded(took)).Err(err).Msg("pass cut short, the next run begins it again")
	default:
		l.line(l.news(zerolog.WarnLevel, namespace, err.Error()), namespace).Dur("took_s", rounded(took)).Int("failures", failures).
			Err(err).Msg("pass failed, it is going to be repeated")
	}
}

// line says which namespace and which pass over it a line is about.
func (l *namespaceLog) line(line *zerolog.Event, namespace string) *zerolog.Event {
	return l.passes.of(namespaceController, namespace, line.Str("namespace", namespace))
}

// news starts a line at the level if it tells something new of the namespace, and at -v1 if it was told a moment ago.
func (l *namespaceLog) news(level zerolog.Level, namespace, news string) *zerolog.Event {
	if l.stories.isNews(namespace, news) {
		return l.zero.WithLevel(level)
	}
	return l.at(verbosityPasses)
}

// typeName is how kubectl calls a type: "pods", "deployments.apps". The conditions of a namespace write "pods.".
func typeName(resource api.GroupVersionResource) string {
	return strings.TrimSuffix(resource.GroupResource(), ".")
}
