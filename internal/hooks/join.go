// Package hooks joins trace hooks, so that several observers can watch one gear. A Trace is a
// struct of functions, like net/http/httptrace.ClientTrace, with a field for each event in a gear.
// Logs, metrics and Events each have a Trace of their own, and a gear takes one. Each gear's
// JoinTraces lists its fields; [Join] and its variants join one field, [Traces] the whole struct.
// Hooks are called in the order of the arguments, on the goroutine of the gear; a panic skips the
// remaining hooks. A hook that no trace sets stays nil, so that it costs the gear one branch, and a
// hook that one trace sets is not wrapped. The test of this package checks that no
// JoinTraces forgets a field.
package hooks

import "reflect"

// Traces joins all traces with and, in the order of the arguments. Arguments may be nil; the result
// is nil if all are, and the argument itself if only one is not.
func Traces[T any](and func(t, u *T) *T, traces ...*T) *T {
	var joined *T
	for _, t := range traces {
		switch {
		case t == nil:
		case joined == nil:
			joined = t
		default:
			joined = and(joined, t)
		}
	}
	return joined
}

// Join0 is [Join] without parameters.
func Join0(f, g func()) func() {
	if f == nil || g == nil {
		return Either(f, g, f == nil)
	}
	return func() { f(); g() }
}

// Join returns a hook that calls both. Either may be nil. Join0, Join2, Join3 and Join4 are for
// hooks with other numbers of parameters.
func Join[A any](f, g func(A)) func(A) {
	if f == nil || g == nil {
		return Either(f, g, f == nil)
	}
	return func(a A) { f(a); g(a) }
}

// Join2 is [Join] for two parameters.
func Join2[A, B any](f, g func(A, B)) func(A, B) {
	if f == nil || g == nil {
		return Either(f, g, f == nil)
	}
	return func(a A, b B) { f(a, b); g(a, b) }
}

// Join3 is [Join] for three parameters.
func Join3[A, B, C any](f, g func(A, B, C)) func(A, B, C) {
	if f == nil || g == nil {
		return Either(f, g, f == nil)
	}
	return func(a A, b B, c C) { f(a, b, c); g(a, b, c) }
}

// Join4 is [Join] for four parameters.
func Join4[A, B, C, D any](f, g func(A, B, C, D)) func(A, B, C, D) {
	if f == nil || g == nil {
		return Either(f, g, f == nil)
	}
	return func(a A, b B, c C, d D) { f(a, b, c, d); g(a, b, c, d) }
}

// Either returns f, or g if second.
func Either[F any](f, g F, second bool) F {
	if second {
		return g
	}
	return f
}

// Default returns a hook that does nothing in place of nil, for a gear that calls hooks
// unconditionally.
func Default[F any](hook *F, nothing F) {
	if reflect.ValueOf(*hook).IsNil() {
		*hook = nothing
	}
}
