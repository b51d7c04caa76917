package resources

import (
	"cmp"
	"fmt"
	"time"

	"orrery/restclient/api"
)

// sidecars returns the names of the restartable init containers.
func sidecars(o *api.Unstructured) map[string]bool {
	found := map[string]bool{}
	for _, container := range items(child(o.Object, "spec"), "initContainers") {
		if text(container, "restartPolicy") == "Always" {
			found[text(container, "name")] = true
		}
	}
	return found
}

func podReady(o *api.Unstructured, _ time.Time) any {
	spec, status := child(o.Object, "spec"), child(o.Object, "status")
	sidecar := sidecars(o)
	total := int64(len(items(spec, "containers")) + len(sidecar))
	ready := int64(0)
	for _, c := range items(status, "initContainerStatuses") {
		if sidecar[text(c, "name")] && boolean(c, "ready") && boolean(c, "started") {
			ready++
		}
	}
	for _, c := range items(status, "containerStatuses") {
		if boolean(c, "ready") && child(child(c, "state"), "running") != nil {
			ready++
		}
	}
	return ratio(ready, total)
}

// podStatus returns the reason of the container that best explains the pod's state, or the phase.
func podStatus(o *api.Unstructured, _ time.Time) any {
	status := child(o.Object, "status")
	reason := cmp.Or(text(status, "reason"), text(status, "phase"))
	if condition(status, "PodScheduled", "reason") == "SchedulingGated" {
		reason = "SchedulingGated"
	}
	initial, initializing := initReason(o)
	if initializing {
		reason = initial
	}
	if !initializing || condition(status, "Initialized", "status") == "True" {
		reason = containersReason(o, reason)
	}
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

// initReason returns the state of the first unfinished init container, or false if all have
// finished.
func initReason(o *api.Unstructured) (string, bool) {
	sidecar := sidecars(o)
	total := len(items(child(o.Object, "spec"), "initContainers"))
	for i, c := range items(child(o.Object, "status"), "initContainerStatuses") {
		state := child(c, "state")
		terminated, waiting := child(state, "terminated"), child(state, "waiting")
		switch {
		case terminated != nil && integer(terminated, "exitCode") == 0:
			continue
		case sidecar[text(c, "name")] && boolean(c, "started"):
			continue
		case terminated != nil:
			return "Init:" + endReason(terminated), true
		case text(waiting, "reason") != "" && text(waiting, "reason") != "PodInitializing":
			return "Init:" + text(waiting, "reason"), true
		}
		return fmt.Sprintf("Init:%d/%d", i, total), true
	}
	return "", false
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

// podRestarts returns the restarts of the init containers while they run, then of the containers,
// and the time of the last one.
func podRestarts(o *api.Unstructured, now time.Time) any {
	status := child(o.Object, "status")
	sidecar := sidecars(o)
	var all, ofSidecars restarts
	for _, c := range items(status, "initContainerStatuses") {
		all.add(c)
		if sidecar[text(c, "name")] {
			ofSidecars.add(c)
		}
	}
	if _, initializing := initReason(o); !initializing || condition(status, "Initialized", "status") == "True" {
		all = ofSidecars
		for _, c := range items(status, "containerStatuses") {
			all.add(c)
		}
	}
	if all.last.IsZero() || all.count == 0 {
		return decimal(all.count)
	}
	return fmt.Sprintf("%d (%s ago)", all.count, humanDuration(now.Sub(all.last)))
}

// restarts sums up the restarts of several containers.
type restarts struct {
	count int64
	last  time.Time
}

func (r *restarts) add(status tree) {
	r.count += integer(status, "restartCount")
	end, err := time.Parse(time.RFC3339, text(child(child(status, "lastState"), "terminated"), "finishedAt"))
	if err == nil && end.After(r.last) {
		r.last = end
	}
}
