package informer

import (
	"context"

	"orrery/deltafifo"
	"orrery/restclient/api"
	"orrery/wait"
)

// TransformFunc changes an object before it enters the queue, the store and the handlers: it is the
// place to drop unused fields. It owns the object and may change it in place or return another one;
// the key must stay the same.
//
// It runs once for every incoming object, on the goroutine of the reflector. An error drops the
// event.
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

// guardedTransform reports the errors of a transform, which the reflector would only count, and
// turns a recovered panic into an error, so that it costs one event and not the reflector.
func guardedTransform[T Object](transform TransformFunc[T], failed func(*ProcessError)) TransformFunc[T] {
	if transform == nil {
		return nil
	}
	return func(obj T) (out T, err error) {
		defer func() {
			if err != nil {
				key, _ := MetaNamespaceKeyFunc(obj) // the queue has already computed it
				failed(&ProcessError{Key: key, Err: &deltafifo.TransformError{Key: key, Err: err}})
			}
		}()
		defer wait.HandleCrash(func(_ context.Context, p *wait.Panic) { err = p })
		return transform(obj)
	}
}
