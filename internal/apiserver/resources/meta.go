package resources

import (
	"orrery/internal/apiserver/apierrors"
	"orrery/restclient/api"
)

// ObjectMetaValidation says what is wrong with the metadata of an object of the type, whatever its kind: name, labels,
// annotations, finalizers, owner references.
func ObjectMetaValidation(d *Definition, o *api.Unstructured) []apierrors.FieldError { return nil }

// MetaUpdateValidation says what is wrong with the step from the metadata of old to that of o: fields that must not
// change, finalizers that are added to an object that is being deleted. The registry has carried over the fields that
// a client may leave out.
func MetaUpdateValidation(o, old *api.Unstructured) []apierrors.FieldError { return nil }
