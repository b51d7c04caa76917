package resources

import (
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

func volumeStatus(o *api.Unstructured, _ time.Time) any {
	if o.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return o.NestedString("status", "phase")
}

const rbacGroup = "rbac.authorization.k8s.io"

func fillBinding(o tree) {
	for _, subject := range items(o, "subjects") {
		if kind := text(subject, "kind"); kind == "User" || kind == "Group" {
			fillText(subject, "apiGroup", rbacGroup)
		}
	}
}

// protectClaim adds the finalizer that keeps a claim while a pod uses it.
func protectClaim(o *api.Unstructured) {
	metadata := ensure(o.Object, "metadata")
	if !slices.Contains(texts(metadata, "finalizers"), FinalizerClaimProtection) {
		list, _ := metadata["finalizers"].([]any)
		metadata["finalizers"] = append(slices.Clone(list), any(FinalizerClaimProtection))
	}
}

// accessModes abbreviates access modes, in kubectl's order.
func accessModes(modes []string) string {
	var found []string
	for _, mode := range [][2]string{
		{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
	} {
		if slices.Contains(modes, mode[0]) {
			found = append(found, mode[1])
		}
	}
	return strings.Join(found, ",")
}
