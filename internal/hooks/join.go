// Package hooks joins trace hooks, so that several observers can watch one gear. A Trace is a
// struct of functions, like net/http/httptrace.ClientTrace, with a field for each event in a gear.
// Logs, metrics and Events each have a Trace of their own, and a gear takes one.
//
// Like httptrace, the package joins functions by reflection, so that no gear lists its hooks twice.
// A hook that no trace sets stays nil and costs the gear one branch; a hook that one trace sets is
// not wrapped. Only a hook that several traces set costs a reflective call.
package hooks

import (
	"reflect"
	"slices"
)

// Join returns a trace that calls the hooks of all traces, in the order of the arguments, on the
// goroutine of the gear; a panic skips the remaining hooks. Arguments may be nil; the result is nil
// if all are, and the argument itself if only one is not.
//
// The results of a hook replace the first arguments of the next one: a hook may return a context
// that is derived from its argument.
func Join[T any](traces ...*T) (joined *T) {
	for _, t := range traces {
		switch {
		case t == nil:
		case joined == nil:
			joined = t
		default:
			joined = join(joined, t)
		}
	}
	return joined
}

func join[T any](t, u *T) *T {
	both, other := *t, *u
	fields, others := reflect.ValueOf(&both).Elem(), reflect.ValueOf(other)
	for i := range fields.NumField() {
		switch field, second := fields.Field(i), others.Field(i); {
		case second.IsNil():
		case field.IsNil():
			field.Set(second)
		default:
			first := reflect.ValueOf(field.Interface()) // a copy: the field is about to change
			field.Set(reflect.MakeFunc(field.Type(), func(args []reflect.Value) []reflect.Value {
				results := first.Call(args)
				return second.Call(append(results, args[len(results):]...))
			}))
		}
	}
	return &both
}

// Complete returns a copy of t, which may be nil, with a hook that does nothing in place of each
// nil one, for a gear that calls hooks without a check. It leaves the fields that the gear checks.
// A hook that does nothing returns its first arguments.
func Complete[T any](t *T, checked ...string) *T {
	var complete T
	if t != nil {
		complete = *t
	}
	fields := reflect.ValueOf(&complete).Elem()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if !field.IsNil() || slices.Contains(checked, fields.Type().Field(i).Name) {
			continue
		}
		field.Set(reflect.MakeFunc(field.Type(), func(args []reflect.Value) []reflect.Value {
			return args[:field.Type().NumOut()]
		}))
	}
	return &complete
}

// Default is [Complete] for one hook that is called too often for a reflective call.
func Default[F any](hook *F, nothing F) {
	if reflect.ValueOf(*hook).IsNil() {
		*hook = nothing
	}
}
