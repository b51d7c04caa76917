package registry

import (
	"strconv"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Get returns an object: the latest state, or with a resourceVersion one that is at least as new.
func (r *Registry) Get(t Target, o api.GetOptions) (*store.Object, error) {
	asked, err := queryVersion(o.ResourceVersion)
	if err != nil {
		return nil, apierrors.Unclassified(err.Error())
	}
	if o.ResourceVersion == "" {
		object, ok := r.collection(t).Get(t.key())
		if !ok {
			return nil, t.notFound()
		}
		return object, nil
	}
	view, err := r.cached(t, asked)
	if err != nil {
		return nil, err
	}
	object, ok := view.Get(t.key())
	if !ok {
		return nil, t.notFound()
	}
	return object, nil
}

// cached returns the state that a lagging replica would serve. It returns an error if the replica
// has not reached atLeast.
func (r *Registry) cached(t Target, atLeast uint64) (*store.View, error) {
	at := r.reached()
	if atLeast > at {
		return nil, apierrors.TooLargeVersion(atLeast, at)
	}
	view, err := r.collection(t).View(at)
	if err != nil {
		// The history does not reach back that far.
		view, err = r.collection(t).View(0)
	}
	return view, r.storeError(t, err)
}

// reached returns the version up to which the simulated replica has caught up.
func (r *Registry) reached() uint64 {
	version := r.store.Version()
	if r.lag == nil {
		return version
	}
	return version - min(r.lag(), version-1)
}

// versionError reports a malformed resourceVersion in a query.
type versionError struct {
	text  string
	cause error
}

func (e *versionError) Error() string {
	return apierrors.FieldError{
		Type: apierrors.FieldInvalid, Field: "resourceVersion", Value: e.text, Detail: e.cause.Error(),
	}.Error()
}

// queryVersion parses the resourceVersion of a read: "" and "0" are 0.
func queryVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &versionError{text, err}
	}
	return version, nil
}
