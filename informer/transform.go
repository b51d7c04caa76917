package informer

import (
	"context"

	"orrery/deltafifo"
	"orrery/wait"
)

// TransformFunc changes an object before it enters the queue, and so before it is stored and before any handler
// sees it: it is the place to drop what nobody reads. It owns the object and may change it in place, or return
// another one; the key must stay the same.
//
// It runs once for every object that arrives, on the goroutine of the reflector. An error drops the event.
type TransformFunc[T any] func(obj T) (T, error)

// ManagedFieldsHolder is an object that can forget its managed fields. They often make up the greater part of an
// object, and hardly any controller reads them.
type ManagedFieldsHolder interface{ StripManagedFields() }

// StripManagedFields is a [TransformFunc] that makes objects smaller by their managed fields.
//
// Do not use it where objects from the store are written back with an update: what is not sent is removed.
func StripManagedFields[T ManagedFieldsHolder](obj T) (T, error) {
	obj.StripManagedFields()
	return obj, nil
}

// ChainTransforms returns the transform that applies all of these in order. Nil ones are left out.
func ChainTransforms[T any](transforms ...TransformFunc[T]) TransformFunc[T] {
	return func(obj T) (T, error) {
		for _, transform := range transforms {
			if transform == nil {
				continue
			}
			var err error
			if obj, err = transform(obj); err != nil {
				return obj, err
			}
		}
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
		defer wait.HandleCrash(func(_ context.Context, p *wait.Panic) {
			err = &PanicError{Value: p.Value}
		})
		return transform(obj)
	}
}
