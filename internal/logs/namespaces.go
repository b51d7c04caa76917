package logs

import (
	"errors"
	"strings"
	"sync"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// Namespaces returns hooks that tell how the deletion of namespaces goes.
func (l *Logger) Namespaces() *nsctl.Trace {
	log := &namespaceLog{Logger: l, known: map[string]bool{}}
	return &nsctl.Trace{
		Enqueued:          log.enqueued,
		PassStarted:       log.passStarted,
		Discovered:        log.discovered,
		TypeDeleted:       log.typeDeleted,
		WouldDelete:       log.wouldDelete,
		Conflict:          log.conflict,
		ConditionsUpdated: log.conditionsUpdated,
		ConditionsFailed:  log.conditionsFailed,
		Finalized:         log.finalized,
		PassDone:          log.passDone,
	}
}

// namespaceLog says that a namespace is being deleted once, not with each event that it causes.
type namespaceLog struct {
	*Logger

	// mu guards known.
	mu    sync.Mutex
	known map[string]bool
}

// isNew remembers the namespace and tells whether it was not known before.
func (l *namespaceLog) isNew(namespace string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[namespace]
	l.known[namespace] = true
	return !known
}

func (l *namespaceLog) forget(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, namespace)
}

func (l *namespaceLog) enqueued(namespace string, after time.Duration) {
	if l.isNew(namespace) {
		l.Info().Str("namespace", namespace).Dur("first_look_in_s", after).Msg("namespace is being deleted")
		return
	}
	l.at(verbosityPasses).Str("namespace", namespace).Dur("next_look_in_s", after).Msg("namespace has changed")
}

func (l *namespaceLog) passStarted(namespace string) {
	l.at(verbosityPasses).Str("namespace", namespace).Msg("pass started")
}

func (l *namespaceLog) discovered(namespace string, types int, err error) {
	if err != nil {
		l.Warn().Str("namespace", namespace).Int("types", types).Err(err).Msg("discovery is incomplete, the namespace cannot be finalized yet")
		return
	}
	l.at(verbosityPasses).Str("namespace", namespace).Int("types", types).Msg("resource types discovered")
}

func (l *namespaceLog) typeDeleted(namespace string, resource api.GroupVersionResource, remaining int, err error) {
	switch {
	case err != nil:
		l.at(verbosityPasses).Str("namespace", namespace).Str("resource", typeName(resource)).Err(err).Msg("deleting content failed")
	case remaining > 0:
		l.at(verbosityPasses).Str("namespace", namespace).Str("resource", typeName(resource)).Int("remaining", remaining).Msg("content remains")
	default:
		l.at(verbosityEvents).Str("namespace", namespace).Str("resource", typeName(resource)).Msg("content is gone")
	}
}

func (l *namespaceLog) wouldDelete(namespace string, resource api.GroupVersionResource, items int, err error) {
	switch {
	case err != nil:
		l.Warn().Str("namespace", namespace).Str("resource", typeName(resource)).Err(err).Msg("dry run: cannot see this content")
	case items > 0:
		l.Info().Str("namespace", namespace).Str("resource", typeName(resource)).Int("items", items).Msg("dry run: would delete")
	}
}

func (l *namespaceLog) conflict(namespace string, err error) {
	l.at(verbosityPasses).Str("namespace", namespace).Err(err).Msg("somebody else changed the namespace, trying again on the new state")
}

func (l *namespaceLog) conditionsUpdated(namespace string, conditions []api.NamespaceCondition) {
	for _, condition := range conditions {
		if condition.Status != api.ConditionTrue {
			continue
		}
		l.Info().Str("namespace", namespace).Str("condition", string(condition.Type)).
			Str("reason", condition.Reason).Str("detail", condition.Message).Msg("condition holds")
	}
}

func (l *namespaceLog) conditionsFailed(namespace string, err error) {
	l.Warn().Str("namespace", namespace).Err(err).Msg("cannot report conditions")
}

func (l *namespaceLog) finalized(namespace string, err error) {
	switch {
	case err == nil:
		l.Info().Str("namespace", namespace).Msg("namespace finalized")
	case !api.IsNotFound(err):
		l.at(verbosityPasses).Str("namespace", namespace).Err(err).Msg("finalizing failed")
	}
}

func (l *namespaceLog) passDone(namespace string, took time.Duration, failures int, err error) {
	var remaining *nsctl.ResourcesRemainingError
	switch {
	case err == nil:
		l.forget(namespace)
		l.at(verbosityPasses).Str("namespace", namespace).Dur("took_s", took).Msg("pass done")
	case errors.As(err, &remaining):
		l.Info().Str("namespace", namespace).Dur("took_s", took).Int64("estimate_s", remaining.Estimate).
			Dur("next_look_in_s", remaining.RequeueAfter()).Msg("content remains and needs time")
	default:
		l.Warn().Str("namespace", namespace).Dur("took_s", took).Int("failures", failures).Err(err).Msg("pass failed, it is going to be repeated")
	}
}

// typeName is how kubectl calls a type: "pods", "deployments.apps". The conditions of a namespace write "pods.".
func typeName(resource api.GroupVersionResource) string {
	return strings.TrimSuffix(resource.GroupResource(), ".")
}
