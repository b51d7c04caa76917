package story

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orrery/internal/observe/trace"
	"orrery/restclient/api"
)

// sentence is what an event says: the actor and the text. {i} and other names in braces are the
// fields of a [trace.Event] in a recording; {us} is a time, {d} has the names of the deltas.
// "object[s]" is a plural behind a number.
type sentence struct {
	who  Who
	text string
}

// sentences are those of the events, by name; a kind follows a space.
var sentences = map[string]sentence{
	"reflector.listed": {Reflector, "{i}: a list returns {n} object[s] at resourceVersion {rv}; the watch " +
		"starts there"},
	"reflector.event":      {Reflector, "{i}: watch event {type} {k}, resourceVersion {rv}"},
	"reflector.watchEnded": {Reflector, "{i}: the watch ended at resourceVersion {rv}: {err}"},
	"reflector.backOff":    {Reflector, "{i}: retries in {us} (back-off with jitter): {err}"},
	"reflector.expired": {Reflector, "{i}: 410 Expired: the server no longer has the events after " +
		"resourceVersion {rv}; " +
		"the reflector lists again"},

	"deltafifo.queued": {FIFO, "{k}: the delta {d} is queued"},
	"deltafifo.replaced": {FIFO, "{i}: the list lacks {m} object[s] of the store: each gets a tombstone " +
		"(DeletedFinalStateUnknown) in the queue"},
	"deltafifo.popped": {FIFO, "{k}: popped with {deltas} delta[s]: {d}"},

	"informer.distributed add": {Indexer, "the store has the new state of {k}; the informer notifies {n} " +
		"handler[s]"},
	"informer.distributed update": {Indexer, "the store has the new state of {k}; the informer notifies {n} " +
		"handler[s]"},
	"informer.distributed delete": {Indexer, "the store has removed {k}; the informer notifies {n} handler[s]"},

	"indexer.deleted": {Server, "the kubelet reports that the last pod has ended"},

	"informer.applied same":   {Indexer, "{k}: {d}; the store has this version: no call"},
	"informer.applied add":    {Indexer, "{k}: {d}; the store lacked it: OnAdd"},
	"informer.applied update": {Indexer, "{k}: {d}; the store had another version: OnUpdate"},
	"informer.applied delete": {Indexer, "{k}: {d}; the store had it: OnDelete"},

	"restclient.requestDone":       {Server, "the {verb} is answered with HTTP {code}"},
	"restclient.requestDone error": {Server, "the {verb} is refused with HTTP {code}, {err}"},

	"queue.added":      {Queue, "Add({k}): it is dirty now, and queued"},
	"queue.added held": {Queue, "Add({k}): it is dirty now; a worker holds it, so it is not queued"},
	"queue.coalesced":  {Queue, "Add({k}): it is dirty already, so nothing changes (coalesced)"},
	"queue.got":        {Queue, "Get returns {k}: it is processing now, and no longer dirty"},
	"queue.done":       {Queue, "Done({k}): it is not dirty, so the queue forgets it"},
	"queue.done held":  {Queue, "Done({k}): it is dirty, so it is queued"},
	"queue.forgotten":  {Queue, "Forget({k}): its next failure is failure 1"},
	"queue.delayed":    {Queue, "AddAfter: {k} is delayed by {us}"},
	"queue.delayEnded": {Queue, "the delay of {k} is over: it is ready for a worker"},
	"queue.retried":    {Queue, "AddRateLimited({k}): failure {n}, retry in {us}"},

	"nsctl.enqueued": {Handler, "{k} has changed: its next pass is due in {us} at the latest"},
	"nsctl.enqueued first": {Handler, "{k} has a deletionTimestamp: its first pass is due in {us}, after the " +
		"grace period"},
	"nsctl.passStarted":       {Worker, "takes {k} from the queue: pass {pass} begins"},
	"nsctl.discovered":        {Deleter, "discovery: {n} namespaced types can be deleted"},
	"nsctl.discovered error":  {Deleter, "discovery: {n} types are known, some are missing: {err}"},
	"nsctl.typeDeleted":       {Deleter, "{type}: one deletecollection request; {n} of {most} remain"},
	"nsctl.typeDeleted empty": {Deleter, "{type}: all {most} deleted"},
	"nsctl.typeDeleted error": {Deleter, "{type}: {err}"},
	"nsctl.conflict": {Deleter, "409 Conflict: another client wrote first. The deleter reads {k} again, " +
		"compares the UID, " +
		"and repeats its change"},
	"nsctl.conditionsUpdated":       {Deleter, "updates the status: {type}: {message}"},
	"nsctl.conditionsUpdated false": {Deleter, "updates the status: {type} is no longer true"},
	"nsctl.conditionsUpdated last":  {Deleter, "updates the status: no condition blocks the deletion any more"},
	"nsctl.conditionsFailed":        {Deleter, "cannot update the status: {err}; the deletion goes on"},
	"nsctl.finalized": {Deleter, `no content is left: removes "kubernetes" from spec.finalizers of {k} through ` +
		`/finalize; ` +
		`the server removes the namespace`},
	"nsctl.finalized error":  {Deleter, "cannot finalize {k}: {err}"},
	"nsctl.passDone":         {Worker, "pass {pass} ends after {us}: nothing more to do. Forget, Done"},
	"nsctl.passDone waiting": {Worker, "pass {pass} ends after {us}: {err}"},
	"nsctl.passDone error":   {Worker, "pass {pass} fails: {err}. The delay doubles with each failure"},
}

// sentence returns what is told of an event; s is the state before it. A text "" is nothing.
func (s *State) sentence(e *trace.Event) (who Who, text string) {
	name, more := s.chosen(e), map[string]any{}
	chosen, ok := sentences[name]
	if !ok {
		return "", ""
	}
	if kind, _, _ := strings.Cut(e.Resource, "."); kind != "" {
		bar, _ := s.TypeNamed(kind)
		more["type"], more["most"] = kind, max(bar.Most, int(e.N))
	}
	if request := s.Run.Requests.Running(e.Request); request != nil {
		more["verb"] = request.Verb
	}
	more["pass"], more["deltas"] = s.pass(), utf8.RuneCountInString(e.Deltas)
	return chosen.who, filled(chosen.text, e, more)
}

// pass returns the number of the last pass.
func (s *State) pass() uint64 {
	if q := s.Run.Queues[NamespaceQueue]; q != nil {
		return q.Got
	}
	return 0
}

// chosen returns the name of the sentence for an event, "" for none.
func (s *State) chosen(e *trace.Event) string {
	gear, hook, _ := strings.Cut(e.Name, ".")
	switch gear {
	case "nsctl":
		if e.Key == s.Namespace.Name {
			return s.ofNamespace(e)
		}
	case "queue":
		if e.In == NamespaceQueue && e.Key == s.Namespace.Name || s.follows(e.Name) {
			return s.ofQueue(e)
		}
	case "restclient":
		switch {
		case !s.follows(e.Name) || e.Code == 0:
			return ""
		case e.Err != "":
			return e.Name + " error"
		}
		return e.Name
	case "indexer":
		if hook == "deleted" && e.In == "pods" && s.Run.Informers[e.In].Store.Total == 1 {
			return e.Name
		}
	case "reflector", "deltafifo", "informer":
		switch {
		case hook == "watchEnded" && e.Err == "", hook == "replaced" && e.M == 0:
			return ""
		case e.Key == "" && s.Reported[e.In]:
			return e.Name
		case e.Key == "", e.In != "namespaces" && !s.follows(e.Name), e.In == "namespaces" && e.Key != s.Namespace.Name:
			return ""
		case hook == "applied" && s.Alone && (e.Sync || e.Kind == ""):
			return e.Name + " same"
		case (hook == "distributed" && !s.Alone || hook == "applied" && s.Alone) && e.Kind != "":
			return e.Name + " " + e.Kind
		case hook == "distributed", hook == "applied" && !s.Alone:
			return ""
		}
		return e.Name
	}
	return ""
}

// follows reports whether a scene on a bare stage follows an event, or all of its gear.
func (s *State) follows(name string) bool {
	gear, _, _ := strings.Cut(name, ".")
	return slices.Contains(s.Follow, gear) || slices.Contains(s.Follow, name)
}

// ofQueue chooses the sentence for an event of a work queue.
func (s *State) ofQueue(e *trace.Event) string {
	q := s.Run.Queues[e.In]
	if q == nil {
		q = &trace.QueueState{}
	}
	_, hook, _ := strings.Cut(e.Name, ".")
	failed, held := q.Failures[e.Key] > 0, q.Processing[e.Key]
	if !s.Alone && !slices.Contains(delays, hook) {
		return ""
	}
	switch e.Name {
	case "queue.added":
		if held != nil {
			return e.Name + " held"
		}
	case "queue.done":
		if held != nil && held.Dirty {
			return e.Name + " held"
		}
	case "queue.forgotten":
		if !failed {
			return ""
		}
	case "queue.delayed":
		const same = 20 * time.Millisecond
		if failed || e.Micros == 0 || q.Delayed[e.Key] != (trace.DelayState{}) &&
			e.Time+e.Micros > q.Delayed[e.Key].At+q.Delayed[e.Key].Micros-same.Microseconds() {
			return "" // a retry, or the earlier time stays
		}
	case "queue.delayEnded":
		if failed {
			return ""
		}
	}
	return e.Name
}

// ofNamespace chooses the sentence for an event of the namespace's deletion.
func (s *State) ofNamespace(e *trace.Event) string {
	before := s.Run.Namespaces[e.Key]
	if before == nil {
		before = &trace.NamespaceState{}
	}
	switch {
	case e.Name == "nsctl.enqueued" && (before.DueAt == 0 || before.UID != e.UID):
		return e.Name + " first"
	case e.Name == "nsctl.conditionsUpdated":
		return s.ofCondition(before, e)
	case e.Name == "nsctl.passDone":
		return ofPass(before, e)
	case e.Name == "nsctl.passStarted" && before.Failures == 0, e.Name == "nsctl.conflict":
		return e.Name
	case e.Name == "nsctl.conditionsFailed" && strings.HasPrefix(e.Err, string(api.ReasonNotFound)):
		return ""
	case e.Name == "nsctl.finalized" && e.Err != "":
		return e.Name + " error"
	case e.Name == "nsctl.conditionsFailed", e.Name == "nsctl.finalized", e.Name == "nsctl.enqueued":
		return e.Name
	case before.Failures > 0 && (e.Err != "" || e.Name != "nsctl.typeDeleted" || e.N > 0):
		return "" // the first of several failed passes told it
	case e.Err != "":
		return e.Name + " error"
	case e.Name == "nsctl.typeDeleted" && e.N == 0:
		kind, _, _ := strings.Cut(e.Resource, ".")
		if bar, _ := s.TypeNamed(kind); bar.Most == 0 {
			return ""
		}
		return e.Name + " empty"
	case e.Name == "nsctl.discovered" && before.Passes > 1:
		return ""
	}
	return e.Name
}

// ofCondition tells conditions that have changed.
func (s *State) ofCondition(before *trace.NamespaceState, e *trace.Event) string {
	was := before.Conditions[e.Type]
	switch {
	case e.Status == string(api.ConditionTrue) && (was.Status != e.Status || was.Message != e.Message):
		return e.Name
	case e.Status == string(api.ConditionTrue) || was.Status != string(api.ConditionTrue):
		return ""
	}
	for other, c := range before.Conditions {
		if other != e.Type && c.Status == string(api.ConditionTrue) {
			return e.Name + " false"
		}
	}
	return e.Name + " last"
}

func ofPass(before *trace.NamespaceState, e *trace.Event) string {
	switch {
	case e.Err == "":
		return e.Name
	case e.N == 0:
		return e.Name + " waiting"
	case e.Err == before.Err:
		return ""
	}
	return e.Name + " error"
}

// waiting explains the stages in which the namespace waits for its next pass, in at most two lines
// of a small terminal.
var waiting = map[string]string{
	"grace period": "until the first pass: another API server may not know of the deletion " +
		"yet, and still admit objects",
	"waiting for the remaining content": "until the next pass: the remaining content needs time, and more " +
		"requests would not speed it up",
	"back-off between failed passes": "until the next retry: each failure doubles the delay, so that a " +
		"broken server is not overloaded",
}

// stage enters the stage that an event begins; s is the state after it.
func (s *State) stage(e *trace.Event) {
	n, q := s.Run.Namespaces[s.Namespace.Name], s.Run.Queues[NamespaceQueue]
	if n == nil || q == nil || e.Key != s.Namespace.Name {
		return
	}
	name := "waiting for the remaining content"
	switch {
	case n.Failures > 0:
		name = "back-off between failed passes"
	case n.Passes == 0:
		name = "grace period"
	}
	delay := q.Delayed[e.Key]
	switch {
	case e.Name == "nsctl.passStarted" && n.Failures > 0:
		s.Enter(name, fmt.Sprintf("pass %d: the controller retries", s.pass()), 0)
	case e.Name == "nsctl.passStarted":
		pass := fmt.Sprintf("pass %d", s.pass())
		s.Enter(pass, pass+": pods first, then everything else, and then the namespace, if it is empty", 0)
	case e.In != "" && e.In != NamespaceQueue || n.Running || delay.Micros == 0:
	case e.Name == "queue.delayed", e.Name == "nsctl.passDone":
		s.Enter(name, waiting[name], time.Duration(delay.At+delay.Micros-e.Time)*time.Microsecond)
	}
}
