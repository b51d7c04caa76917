package trace

import (
	"cmp"
	"slices"
	"strconv"
)

// latest is how many finished requests the state has.
const latest = 50

func (r *RequestsState) apply(s *State, hook string, e *Event) {
	id := strconv.FormatUint(e.Request, 10)
	switch hook {
	case "requestStart":
		r.Started++
		if len(r.Latest) < limit {
			put(s, r.Latest, id, requestOf(e))
		}
	case "requestDone":
		r.done(s, id, e)
	case "retry":
		r.Retries++
	case "throttled":
		r.Throttled++
	case "warning":
		r.Warnings++
		r.Warning = e.Text
	case "watchOpened":
		if len(r.Watches) < limit {
			put(s, r.Watches, id, requestOf(e))
		}
	case "watchClosed":
		if r.Watches[id] == nil {
			s.Odd++
		}
		drop(s, r.Watches, id)
		r.Frames += uint64(e.N)
	}
}

func requestOf(e *Event) *RequestState {
	return &RequestState{Verb: e.Verb, Resource: e.Resource, Key: e.Key, Path: e.Path, At: e.Time}
}

func (r *RequestsState) done(s *State, id string, e *Event) {
	r.Done++
	if e.Err != "" {
		r.Failed++
	}
	request := change(s, r.Latest, id)
	if request == nil || request.Done {
		if len(r.Latest) < limit {
			s.Odd++
		}
		return
	}
	request.Done, request.Micros, request.Code, request.Err = true, e.Micros, e.Code, e.Err
	if done := r.Answered(); len(done) > latest {
		drop(s, r.Latest, done[0])
	}
}

// Answered returns the numbers of the latest requests that are done, in order.
func (r *RequestsState) Answered() (numbers []string) {
	for number, request := range r.Latest {
		if request.Done {
			numbers = append(numbers, number)
		}
	}
	slices.SortFunc(numbers, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return numbers
}

func (l *ElectionState) apply(hook string, e *Event) {
	switch hook {
	case "acquired":
		l.Leading, l.Identity, l.Err = true, e.Identity, ""
	case "renewed":
		l.Renewed++
		l.Err = ""
	case "failed", "watchFailed":
		l.Err = e.Err
	case "lost", "released":
		l.Leading, l.Err = false, e.Err
	case "newLeader":
		l.Identity = e.Identity
	}
}

func (l *LabState) apply(s *State, hook string, e *Event) {
	held := l.Held[e.Gate]
	switch hook {
	case "scene":
		l.Scene, l.Args = e.Label, e.Arguments
	case "input":
		l.Input = e.Label
	case "held":
		if len(held) < limit {
			put(s, l.Held, e.Gate, append(held, e.Key))
		}
	case "stepped":
		i := slices.Index(held, e.Key)
		if i < 0 {
			s.Odd++
			return
		}
		if put(s, l.Held, e.Gate, slices.Delete(held, i, i+1)); len(held) == 1 {
			drop(s, l.Held, e.Gate)
		}
	case "released":
		drop(s, l.Held, e.Gate)
	case "chapter":
		l.Chapter = e.Label
	case "question":
		l.Choices, l.Answer = e.Arguments, ""
	case "answer":
		l.Answer = e.Text
	case "apiserver.requestStarted":
		l.Requests++
	}
}
