package informer

import (
	"context"
	"errors"
	"reflect"

	"orrery/restclient/api"
	"orrery/wait"
)

// TransformFunc changes an object before it enters the queue, the store and the handlers: it is the
// place to drop unused fields. It owns the object and may change it in place or return another one;
// the key must stay the same.
//
// It runs once for every incoming object, on the goroutine of the reflector. With an error, or with
// nil, it refuses the object, which is reported as a [*ProcessError]. The store then keeps the old
// state, also if the object is one of a list. The deletion of a refused object is delivered with
// FinalStateUnknown: its key suffices.
type TransformFunc[T any] func(obj T) (T, error)

// StripManagedFields returns a transform that drops managed fields, which are often the greater
// part of an object and which hardly any controller reads. head returns the metadata of an object:
//
//	Transform: informer.StripManagedFields(func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta })
//
// Do not use it if objects from the store are written back with an update: the update removes what
// is not sent.
func StripManagedFields[T any](head func(obj T) *api.ObjectMeta) TransformFunc[T] {
	return func(obj T) (T, error) {
		head(obj).ManagedFields = api.ManagedFields{}
		return obj, nil
	}
}

// errNothing is the refusal of a transform that returns nil.
var errNothing = errors.New("the transform returned no object")

// guardedTransform turns a recovered panic into an error, so that it costs one event and not the
// reflector, and a nil object as well.
func guardedTransform[T Object](transform TransformFunc[T]) TransformFunc[T] {
	if transform == nil {
		return nil
	}
	return func(obj T) (out T, err error) {
		defer wait.HandleCrash(func(_ context.Context, p *wait.Panic) { err = p })
		if out, err = transform(obj); err == nil && reflect.ValueOf(&out).Elem().IsZero() {
			err = errNothing
		}
		return out, err
	}
}
