package resources

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// persistentVolumeClaims ask for storage.
func persistentVolumeClaims() *Definition {
	return &Definition{
		Plural: "persistentvolumeclaims",
		Columns: []Column{
			nameColumn(),
			{Name: "Status", Type: "string", Description: "Pending, Bound, Lost, or Terminating.", Cell: claimStatus},
			{Name: "Volume", Type: "string", Description: "The volume that it got.", Cell: field("spec", "volumeName")},
			{Name: "Capacity", Type: "string", Description: "The size of the volume.", Cell: claimCapacity},
			{Name: "Access Modes", Type: "string", Description: "Who may use the volume, and how.", Cell: claimModes},
			{Name: "StorageClass", Type: "string", Description: "The kind of storage.", Cell: claimClass},
			{Name: "VolumeAttributesClass", Type: "string", Description: "The attributes of the storage.", Cell: fieldOr(unsetText, "spec", "volumeAttributesClassName")},
			ageColumn(),
			{Name: "VolumeMode", Type: "string", Priority: 1, Description: "A file system, or a raw device.", Cell: fieldOr(unsetText, "spec", "volumeMode")},
		},
		Strategy: Strategy{
			UpdateMeta: CheckStepThenAll,
			Default: func(o *api.Unstructured) {
				fillText(made(o.Object, "spec"), "volumeMode", "Filesystem")
				pendingClaim(o)
			},
			PrepareCreate:            prepareClaim,
			PrepareUpdate:            keepStatus,
			PrepareStatus:            keepAllButStatus,
			Validate:                 validateClaim,
			ValidateUpdate:           validateClaimUpdate,
			AllowUnconditionalUpdate: true,
		},
	}
}

func pendingClaim(o *api.Unstructured) { fillText(made(o.Object, "status"), "phase", "Pending") }

// prepareClaim gives a claim the finalizer that keeps it while a pod uses it.
func prepareClaim(o *api.Unstructured) {
	o.Object["status"] = tree{"phase": "Pending"}
	metadata := made(o.Object, "metadata")
	if !slices.Contains(texts(metadata, "finalizers"), FinalizerClaimProtection) {
		list, _ := metadata["finalizers"].([]any)
		metadata["finalizers"] = append(slices.Clone(list), any(FinalizerClaimProtection))
	}
}

func validateClaim(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	spec := child(o.Object, "spec")
	modes := []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}
	if len(texts(spec, "accessModes")) == 0 {
		m.required("spec.accessModes", "at least 1 access mode is required")
	}
	for _, mode := range texts(spec, "accessModes") {
		if !slices.Contains(modes, mode) {
			m.unsupported("spec.accessModes", mode, modes...)
		}
	}
	storage := child(child(spec, "resources"), "requests")["storage"]
	if storage == nil {
		m.required("spec.resources[storage]", "")
	} else if order, ok := compareQuantities(storage, int64(0)); ok && order <= 0 {
		m.invalid("spec.resources[storage]", storage, "must be greater than zero")
	}
	m.oneOf(spec, "volumeMode", "spec.volumeMode", false, "Block", "Filesystem")
	return m
}

// validateClaimUpdate lets the size grow once the claim is bound, and nothing else change.
func validateClaimUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := mistakes(validateClaim(o))
	patched := o.DeepCopy()
	bound := old.NestedString("status", "phase") == "Bound"
	if bound {
		keep(patched, old, "spec", "resources", "requests")
		keep(patched, old, "spec", "volumeAttributesClassName")
	}
	if old.NestedString("spec", "volumeName") == "" {
		keep(patched, old, "spec", "volumeName")
	}
	if !same(patched.Nested("spec"), old.Nested("spec")) {
		m.forbidden("spec", "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")
	}
	before, now := old.Nested("spec", "resources", "requests", "storage"), o.Nested("spec", "resources", "requests", "storage")
	if order, ok := compareQuantities(now, before); bound && ok && order < 0 {
		m.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
	}
	return m
}

func claimStatus(o *api.Unstructured, _ time.Time) any {
	if o.NestedString("metadata", "deletionTimestamp") != "" {
		return "Terminating"
	}
	return o.NestedString("status", "phase")
}

func claimBound(o *api.Unstructured) bool { return o.NestedString("spec", "volumeName") != "" }

func claimCapacity(o *api.Unstructured, _ time.Time) any {
	capacity := o.Nested("status", "capacity", "storage")
	if !claimBound(o) {
		return ""
	}
	return quantityText(capacity)
}

var shortModes = map[string]string{"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}

func claimModes(o *api.Unstructured, _ time.Time) any {
	if !claimBound(o) {
		return ""
	}
	set := texts(child(o.Object, "status"), "accessModes")
	var found []string
	for _, mode := range []string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"} {
		if slices.Contains(set, mode) {
			found = append(found, shortModes[mode])
		}
	}
	return strings.Join(found, ",")
}

func claimClass(o *api.Unstructured, _ time.Time) any {
	if class := o.GetAnnotations()["volume.beta.kubernetes.io/storage-class"]; class != "" {
		return class
	}
	return o.NestedString("spec", "storageClassName")
}
