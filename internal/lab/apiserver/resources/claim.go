package resources

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

var claimCells = map[string]cell{
	"Status": volumeStatus, "Volume": field("spec", "volumeName"), "Capacity": claimCapacity, "Access Modes": claimModes, "StorageClass": claimClass,
	"VolumeAttributesClass": fieldOr(unsetText, "spec", "volumeAttributesClassName"), "VolumeMode": fieldOr(unsetText, "spec", "volumeMode"),
}

// protectClaim adds the finalizer that keeps a claim while a pod uses it.
func protectClaim(o *api.Unstructured) {
	metadata := ensure(o.Object, "metadata")
	if !slices.Contains(texts(metadata, "finalizers"), FinalizerClaimProtection) {
		list, _ := metadata["finalizers"].([]any)
		metadata["finalizers"] = append(slices.Clone(list), any(FinalizerClaimProtection))
	}
}

func validateClaim(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
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

// validateClaimUpdate allows a bound claim to grow and forbids all other changes.
func validateClaimUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := errorList(validateClaim(o))
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

func claimBound(o *api.Unstructured) bool { return o.NestedString("spec", "volumeName") != "" }

func claimCapacity(o *api.Unstructured, _ time.Time) any {
	capacity := o.Nested("status", "capacity", "storage")
	if !claimBound(o) {
		return ""
	}
	return quantityText(capacity)
}

func claimModes(o *api.Unstructured, now time.Time) any {
	if !claimBound(o) {
		return ""
	}
	return accessModes("status", "accessModes")(o, now)
}

// accessModes returns the cell of a list of access modes, in kubectl's order.
func accessModes(path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		set := o.NestedStringSlice(path...)
		var found []string
		for _, mode := range [][2]string{{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}} {
			if slices.Contains(set, mode[0]) {
				found = append(found, mode[1])
			}
		}
		return strings.Join(found, ",")
	}
}

func claimClass(o *api.Unstructured, _ time.Time) any {
	if class := o.GetAnnotations()["volume.beta.kubernetes.io/storage-class"]; class != "" {
		return class
	}
	return o.NestedString("spec", "storageClassName")
}
