package kubelet

import (
	"fmt"
	"runtime"
	"time"

	"orrery/restclient/api"
)

// This file has the documents that simulated nodes report about themselves and their pods.

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// microTime formats a time like leases.
func microTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

func (n *node) object() *api.Unstructured {
	return &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": n.name,
			"labels": map[string]any{
				"kubernetes.io/hostname": n.name,
				"kubernetes.io/arch":     runtime.GOARCH,
				"kubernetes.io/os":       "linux",
			},
			"annotations": map[string]any{"kubelet.orrery/simulated": "true"},
		},
	}}
}

func (n *node) lease(now time.Time) *api.Unstructured {
	return &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": n.name, "namespace": "kube-node-lease"},
		"spec": map[string]any{
			"holderIdentity":       n.name,
			"leaseDurationSeconds": int64(40),
			"renewTime":            microTime(now),
		},
	}}
}

// nodeStatus returns the status of a reachable node, or of a lost one.
func nodeStatus(n *node, lost bool) map[string]any {
	resources := map[string]any{"cpu": "8", "memory": "16Gi", "pods": "110000"}
	now := timestamp(time.Now())
	condition := func(kind, status, reason, message string) map[string]any {
		if lost {
			status, reason, message = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
		return map[string]any{
			"type": kind, "status": status, "reason": reason, "message": message,
			"lastHeartbeatTime": now, "lastTransitionTime": now,
		}
	}
	return map[string]any{
		"capacity":    resources,
		"allocatable": resources,
		"addresses": []any{
			map[string]any{"type": "InternalIP", "address": fmt.Sprintf("10.0.0.%d", n.number)},
			map[string]any{"type": "Hostname", "address": n.name},
		},
		"nodeInfo": map[string]any{
			"machineID": "", "systemUUID": "", "bootID": "",
			"kernelVersion": "none", "osImage": "none", "operatingSystem": "linux", "architecture": runtime.GOARCH,
			"containerRuntimeVersion": "orrery://none", "kubeletVersion": "orrery", "kubeProxyVersion": "",
		},
		"conditions": []any{
			condition("Ready", "True", "KubeletReady", "simulated node without containers"),
			condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "simulated memory"),
			condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "simulated disk"),
			condition("PIDPressure", "False", "KubeletHasSufficientPID", "simulated process IDs"),
		},
	}
}

// runningStatus returns the status of a pod whose containers all run.
func runningStatus(pod *api.Unstructured, n *node, ip string) map[string]any {
	now := timestamp(time.Now())
	var conditions []any
	for _, kind := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
		"PodScheduled"} {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": "True", "lastProbeTime": nil, "lastTransitionTime": now,
		})
	}
	return map[string]any{
		"phase": "Running", "startTime": now,
		"hostIP": fmt.Sprintf("10.0.0.%d", n.number), "podIP": ip,
		"podIPs":     []any{map[string]any{"ip": ip}},
		"conditions": conditions, "containerStatuses": containerStatuses(pod, now),
	}
}

func containerStatuses(pod *api.Unstructured, now string) []any {
	containers, _ := pod.Nested("spec", "containers").([]any)
	statuses := []any{}
	for _, container := range containers {
		fields, _ := container.(map[string]any)
		name, _ := fields["name"].(string)
		image, _ := fields["image"].(string)
		statuses = append(statuses, map[string]any{
			"name": name, "image": image, "imageID": "",
			"containerID": "orrery://" + pod.GetUID() + "/" + name,
			"ready":       true, "started": true, "restartCount": int64(0),
			"state": map[string]any{"running": map[string]any{"startedAt": now}},
		})
	}
	return statuses
}

// endContainers changes the status of a pod to that of one whose containers have ended. A second
// call changes nothing.
func endContainers(pod *api.Unstructured) {
	now := timestamp(time.Now())
	statuses, _ := pod.Nested("status", "containerStatuses").([]any)
	for _, one := range statuses {
		status, _ := one.(map[string]any)
		state, _ := status["state"].(map[string]any)
		running, runs := state["running"].(map[string]any)
		if !runs {
			continue
		}
		status["ready"], status["started"] = false, false
		status["state"] = map[string]any{"terminated": map[string]any{
			"exitCode": int64(0), "reason": "Completed", "startedAt": running["startedAt"], "finishedAt": now,
			"containerID": status["containerID"],
		}}
	}
	conditions, _ := pod.Nested("status", "conditions").([]any)
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		if kind := condition["type"]; condition["status"] == "True" && (kind == "Ready" || kind == "ContainersReady") {
			condition["status"], condition["reason"], condition["lastTransitionTime"] = "False", "PodCompleted", now
		}
	}
}
