package informer

import (
	"context"

	"orrery/deltafifo"
	"orrery/restclient/api"
	"orrery/wait"
)

// TransformFunc changes an object before it enters the queue, and so before it is stored and before any handler
// sees it: it is the place to drop fields that no handler reads. It owns the object and may change it in place, or return
// another one; the key must stay the same.
//
// It runs once for every object that arrives, on the goroutine of the reflector. An error drops the event.
type TransformFunc[T any] func(obj T) (T, error)

// StripManagedFields returns a transform that makes objects smaller by their managed fields, which often are the
// greater part of an object and which hardly any controller reads. head gives access to the head of an object:
//
//	Transform: informer.StripManagedFields(func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta })
//
// Do not use it where objects from the store are written back with an update: what is not sent is removed.
func StripManagedFields[T any](head func(obj T) *api.ObjectMeta) TransformFunc[T] {
	return func(obj T) (T, error) {
		head(obj).ManagedFields = api.ManagedFields{}
		return obj, nil
	}
}

// guardedTransform reports what goes wrong in a transform, which the reflector would only count, and turns a
// panic that is to be survived into an error, so that it costs one event and not the reflector.
func guardedTransform[T Object](transform TransformFunc[T], failed func(*ProcessError)) TransformFunc[T] {
	if transform == nil {
		return nil
	}
	return func(obj T) (out T, err error) {
		defer func() {
			if err != nil {
				key, _ := MetaNamespaceKeyFunc(obj) // the queue has computed it before
				failed(&ProcessError{Key: key, Err: &deltafifo.TransformError{Key: key, Err: err}})
			}
		}()
		defer wait.HandleCrash(func(_ context.Context, p *wait.Panic) { err = p })
		return transform(obj)
	}
}
