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
		put(s, r.Latest, strconv.FormatUint(e.Seq, 10), requestOf(e))
	case "requestDone":
		r.done(s, e)
	case "watchOpened":
		put(s, r.Watches, id, requestOf(e))
	case "watchClosed":
		if r.Watches[id] == nil {
			s.Odd++
		}
		drop(s, r.Watches, id)
	}
}

func requestOf(e *Event) *RequestState {
	return &RequestState{Request: e.Request, Verb: e.Verb, Resource: e.Resource, Key: e.Key, Path: e.Path, At: e.Time}
}

func (r *RequestsState) done(s *State, e *Event) {
	r.Done++
	if e.Err != "" {
		r.Failed++
	}
	request := change(s, r.Latest, r.begun(e.Request))
	if request == nil {
		s.Odd++
		return
	}
	request.Done, request.Micros, request.Code, request.Err = true, e.Micros, e.Code, e.Err
	if done := r.Answered(); len(done) > latest {
		drop(s, r.Latest, done[0])
	}
}

// Running returns the attempt of a request that is under way; nil if there is none.
func (r *RequestsState) Running(request uint64) *RequestState { return r.Latest[r.begun(request)] }

// begun returns the number of the event that began the attempt under way, "" if there is none.
func (r *RequestsState) begun(request uint64) string {
	for seq, attempt := range r.Latest {
		if attempt.Request == request && !attempt.Done {
			return seq
		}
	}
	return ""
}

// Answered returns the numbers in Latest of the attempts that are done, in order.
func (r *RequestsState) Answered() (begun []string) {
	for seq, attempt := range r.Latest {
		if attempt.Done {
			begun = append(begun, seq)
		}
	}
	slices.SortFunc(begun, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return begun
}

func (l *LabState) apply(s *State, hook string, e *Event) {
	held := l.Held[e.Gate]
	switch hook {
	case "input":
		l.Input = e.Label
	case "held":
		put(s, l.Held, e.Gate, append(held, e.Key))
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
	}
}
