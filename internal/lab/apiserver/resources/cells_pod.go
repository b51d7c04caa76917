package resources

import (
	"cmp"
	"time"

	"orrery/restclient/api"
)

// The columns of pods know nothing of init containers and of containers that fail: no program runs
// here.

func podReady(o *api.Unstructured, _ time.Time) any {
	ready := int64(0)
	for _, c := range items(child(o.Object, "status"), "containerStatuses") {
		if boolean(c, "ready") && child(child(c, "state"), "running") != nil {
			ready++
		}
	}
	return ratio(ready, int64(len(items(child(o.Object, "spec"), "containers"))))
}

// podStatus returns the reason or the phase of a pod.
func podStatus(o *api.Unstructured, _ time.Time) any {
	status := child(o.Object, "status")
	reason, phase := text(status, "reason"), text(status, "phase")
	switch finished := phase == "Failed" || phase == "Succeeded"; {
	case o.GetDeletionTimestamp() == nil || finished:
		return cmp.Or(reason, phase)
	case reason == "NodeLost":
		return "Unknown"
	}
	return "Terminating"
}

// condition returns a field of the condition of the given type.
func condition(status tree, kind, key string) string {
	for _, c := range items(status, "conditions") {
		if text(c, "type") == kind {
			return text(c, key)
		}
	}
	return ""
}

func podRestarts(o *api.Unstructured, _ time.Time) any {
	count := int64(0)
	for _, c := range items(child(o.Object, "status"), "containerStatuses") {
		count += integer(c, "restartCount")
	}
	return decimal(count)
}

func nodeStatus(o *api.Unstructured, _ time.Time) any {
	status := "Unknown"
	switch condition(child(o.Object, "status"), "Ready", "status") {
	case "True":
		status = "Ready"
	case "False", "Unknown":
		status = "NotReady"
	}
	if o.NestedBool("spec", "unschedulable") {
		status += ",SchedulingDisabled"
	}
	return status
}
