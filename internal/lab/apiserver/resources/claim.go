package resources

import (
	"slices"
	"strings"
	"time"

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
