package resources

import (
	"cmp"
	"time"

	"orrery/restclient/api"
)

// The columns of pods know nothing of init containers, which do not run here.

func podReady(o *api.Unstructured, _ time.Time) any {
	ready := int64(0)
	for _, c := range items(child(o.Object, "status"), "containerStatuses") {
		if boolean(c, "ready") && child(child(c, "state"), "running") != nil {
			ready++
		}
	}
	return ratio(ready, int64(len(items(child(o.Object, "spec"), "containers"))))
}

// podStatus returns the reason of the container that best explains the pod's state, or the phase.
func podStatus(o *api.Unstructured, _ time.Time) any {
	status := child(o.Object, "status")
	reason := cmp.Or(text(status, "reason"), text(status, "phase"))
	if condition(status, "PodScheduled", "reason") == "SchedulingGated" {
		reason = "SchedulingGated"
	}
	reason = containersReason(o, reason)
	if o.NestedString("metadata", "deletionTimestamp") != "" {
		if text(status, "reason") == "NodeLost" {
			return "Unknown"
		}
		if phase := text(status, "phase"); phase != "Failed" && phase != "Succeeded" {
			return "Terminating"
		}
	}
	return reason
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

// endReason returns why a container terminated.
func endReason(terminated tree) string {
	if reason := text(terminated, "reason"); reason != "" {
		return reason
	}
	if signal := integer(terminated, "signal"); signal != 0 {
		return "Signal:" + decimal(signal)
	}
	return "ExitCode:" + decimal(integer(terminated, "exitCode"))
}

// containersReason returns the reason of the first container that has one.
func containersReason(o *api.Unstructured, reason string) string {
	status := child(o.Object, "status")
	running := false
	containers := items(status, "containerStatuses")
	for i := len(containers) - 1; i >= 0; i-- {
		c := containers[i]
		state := child(c, "state")
		switch terminated, waiting := child(state, "terminated"), child(state, "waiting"); {
		case text(waiting, "reason") != "":
			reason = text(waiting, "reason")
		case terminated != nil:
			reason = endReason(terminated)
		case boolean(c, "ready") && child(state, "running") != nil:
			running = true
		}
	}
	if reason == "Completed" && running {
		if condition(status, "Ready", "status") == "True" {
			return "Running"
		}
		return "NotReady"
	}
	return reason
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
