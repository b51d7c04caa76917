package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// Strategy is what is particular about writing objects of a type. The registry calls the hooks in this order:
// Default, one of the Prepare hooks, one or both of the Validate hooks. Every hook may be nil, which means that there
// is nothing to do. Hooks change o in place and leave old as it is; they may take parts of old into o only as copies.
//
// Name, namespace, UID, creationTimestamp, resourceVersion, and the fields of a deletion are the registry's; so is
// the check that metadata has not changed where it must not ([MetaUpdateValidation]).
type Strategy struct {
	// Default fills in what the type's version says about absent fields. It is called for every write.
	Default func(o *api.Unstructured)
	// PrepareCreate resets what a client may not set at creation.
	PrepareCreate func(o *api.Unstructured)
	// PrepareUpdate keeps, on a write to the object itself, what only subresources may change, and counts generations.
	PrepareUpdate func(o, old *api.Unstructured)
	// PrepareStatus keeps, on a write to the status subresource, everything but the status.
	PrepareStatus func(o, old *api.Unstructured)
	// PrepareFinalize keeps, on a write to the finalize subresource, everything but the finalizers.
	PrepareFinalize func(o, old *api.Unstructured)

	// Parts prepare writes to other subresources: they keep everything but what those are for. Without one such a write
	// changes what a write to the object would.
	Parts map[string]func(o, old *api.Unstructured)

	// Validate says what is wrong with an object, at creation and, where upstream does so, at updates. Metadata is
	// checked by [ObjectMetaValidation] and names by ValidateName before that.
	Validate func(o *api.Unstructured) []apierrors.FieldError
	// ValidateUpdate says what is wrong with the step from old to o; it calls Validate where that is part of it.
	ValidateUpdate func(o, old *api.Unstructured) []apierrors.FieldError
	// ValidateStatusUpdate is ValidateUpdate for a write to the status subresource.
	ValidateStatusUpdate func(o, old *api.Unstructured) []apierrors.FieldError
	// ValidateFinalizeUpdate is ValidateUpdate for a write to the finalize subresource.
	ValidateFinalizeUpdate func(o, old *api.Unstructured) []apierrors.FieldError
	// Warnings are what is no reason to refuse an object.
	Warnings func(o *api.Unstructured) []string
	// ValidateName checks metadata.name; nil means the rule of most types, DNS subdomains.
	ValidateName NameRule

	// UpdateMeta is what an update checks of the metadata besides what all updates do.
	UpdateMeta MetaCheck
	// LooseFinalizers tells whether a finalizer may have any name, without a domain. Custom resources may have such, too,
	// and their writers are warned ([Warnings]).
	LooseFinalizers bool

	// GraceSeconds is how long an object takes to end, for a delete request that asked for so many seconds (nil: did not
	// ask). Nil: 0, the object ends at once.
	GraceSeconds func(o *api.Unstructured, asked *int64) int64
	// DefaultPropagation is what becomes of owned objects if a delete request does not say; "" means Background.
	DefaultPropagation api.DeletePropagation
	// AllowCreateOnUpdate tells whether an update of an object that does not exist creates it.
	AllowCreateOnUpdate bool
	// AllowUnconditionalUpdate tells whether an update needs no resourceVersion.
	AllowUnconditionalUpdate bool
}

// NameRule checks a name: it returns what is wrong with it, one sentence for each mistake. With prefix the name is one
// that a server will append characters to (metadata.generateName).
type NameRule func(name string, prefix bool) []string

// subdomainName is the rule of most types.
func subdomainName(name string, prefix bool) []string { return names.Subdomain(masked(name, prefix)) }

// labelName is the rule of namespaces and services, whose names become one label of a domain name.
func labelName(name string, prefix bool) []string { return names.Label(masked(name, prefix)) }

// masked gives a prefix the end that a hyphen must not be.
func masked(name string, prefix bool) string {
	if prefix && len(name) > 1 && name[len(name)-1] == '-' {
		return name[:len(name)-2] + "a"
	}
	return name
}
