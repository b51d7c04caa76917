package trace

import (
	"slices"
	"strconv"
)

// recent is how many finished requests the state has.
const recent = 50

func (r *RequestsState) apply(s *State, hook string, e *Event) {
	id := strconv.FormatUint(e.Request, 10)
	switch hook {
	case "requestStart":
		r.Started++
		if len(r.Running) < limit {
			r.Running[id] = requestOf(e)
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
			r.Watches[id] = requestOf(e)
		}
	case "watchClosed":
		if r.Watches[id] == nil {
			s.Odd++
		}
		delete(r.Watches, id)
		r.Frames += uint64(e.N)
	}
}

func requestOf(e *Event) *RequestState {
	return &RequestState{Request: e.Request, Pass: e.Pass, Verb: e.Verb, Resource: e.Resource, Key: e.Key, Path: e.Path, Attempt: e.Attempt, At: e.Time}
}

func (r *RequestsState) done(s *State, id string, e *Event) {
	r.Done++
	if e.Err != "" {
		r.Failed++
	}
	request := r.Running[id]
	if request == nil {
		if len(r.Running) < limit {
			s.Odd++
		}
		return
	}
	delete(r.Running, id)
	request.Micros, request.Code, request.Err = e.Micros, e.Code, e.Err
	if r.Recent = append(r.Recent, *request); len(r.Recent) > recent {
		r.Recent = slices.Delete(r.Recent, 0, 1)
	}
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
	switch hook {
	case "scene":
		l.Scene, l.Args = e.Label, e.Arguments
	case "input":
		l.Input = e.Label
	case "held":
		if held := l.Held[e.Gate]; len(held) < limit {
			l.Held[e.Gate] = append(held, e.Key)
		}
	case "stepped":
		i := slices.Index(l.Held[e.Gate], e.Key)
		if i < 0 {
			s.Odd++
			return
		}
		if l.Held[e.Gate] = slices.Delete(l.Held[e.Gate], i, i+1); len(l.Held[e.Gate]) == 0 {
			delete(l.Held, e.Gate)
		}
	case "released":
		delete(l.Held, e.Gate)
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
