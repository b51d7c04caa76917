package resources

import (
	"strings"
)

// podSpecDefaults fills in what a pod and a template of pods say nothing about.
func podSpecDefaults(spec tree) {
	fillText(spec, "restartPolicy", "Always")
	fillText(spec, "dnsPolicy", "ClusterFirst")
	fillText(spec, "schedulerName", "default-scheduler")
	fill(spec, "terminationGracePeriodSeconds", int64(30))
	fill(spec, "securityContext", tree{})
	if account := text(spec, "serviceAccountName"); account != "" {
		spec["serviceAccount"] = account
	} else if account := text(spec, "serviceAccount"); account != "" {
		spec["serviceAccountName"] = account
	}
	for _, container := range allContainers(spec) {
		containerDefaults(container)
	}
	for _, volume := range items(spec, "volumes") {
		volumeDefaults(volume)
	}
}

// podDefaults fills in what a pod has beyond a template of one.
func podDefaults(spec tree) {
	podSpecDefaults(spec)
	fill(spec, "enableServiceLinks", true)
	for _, container := range allContainers(spec) {
		requestDefaults(child(container, "resources"))
		for _, port := range items(container, "ports") {
			if truth(spec, "hostNetwork") && whole(port, "hostPort") == 0 && has(port, "containerPort") {
				port["hostPort"] = port["containerPort"]
			}
		}
	}
}

func allContainers(spec tree) []tree {
	return append(items(spec, "initContainers"), items(spec, "containers")...)
}

func containerDefaults(c tree) {
	if c == nil {
		return
	}
	fillText(c, "imagePullPolicy", pullPolicy(text(c, "image")))
	fill(c, "resources", tree{})
	fillText(c, "terminationMessagePath", "/dev/termination-log")
	fillText(c, "terminationMessagePolicy", "File")
	for _, port := range items(c, "ports") {
		if port == nil {
			continue
		}
		fillText(port, "protocol", "TCP")
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probeDefaults(child(c, probe))
	}
	for _, hook := range []string{"postStart", "preStop"} {
		httpDefaults(child(child(child(c, "lifecycle"), hook), "httpGet"))
	}
	for _, variable := range items(c, "env") {
		if ref := child(child(variable, "valueFrom"), "fieldRef"); ref != nil {
			fillText(ref, "apiVersion", "v1")
		}
	}
}

// pullPolicy is Always for images that may change under their name: those of the tag latest.
func pullPolicy(image string) string {
	if strings.Contains(image, "@") {
		return "IfNotPresent"
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	if _, tag, tagged := strings.Cut(name, ":"); tagged && tag != "latest" {
		return "IfNotPresent"
	}
	return "Always"
}

// requestDefaults requests as much of a resource as is the limit, where nothing else is said.
func requestDefaults(resources tree) {
	limits := child(resources, "limits")
	if len(limits) == 0 {
		return
	}
	requests := made(resources, "requests")
	for name, limit := range limits {
		fill(requests, name, limit)
	}
}

func probeDefaults(probe tree) {
	if probe == nil {
		return
	}
	for key, value := range map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3} {
		if whole(probe, key) == 0 {
			probe[key] = value
		}
	}
	httpDefaults(child(probe, "httpGet"))
	if grpc := child(probe, "grpc"); grpc != nil {
		fill(grpc, "service", "")
	}
}

func httpDefaults(get tree) {
	if get == nil {
		return
	}
	fillText(get, "path", "/")
	fillText(get, "scheme", "HTTP")
}

// volumeDefaults makes a volume of which nothing is said an empty directory, and fills in modes.
func volumeDefaults(volume tree) {
	if volume == nil {
		return
	}
	const readAll = int64(0o644)
	if len(volume) == 1 && has(volume, "name") {
		volume["emptyDir"] = tree{}
	}
	for _, source := range []string{"secret", "configMap", "downwardAPI", "projected"} {
		if s := child(volume, source); s != nil {
			fill(s, "defaultMode", readAll)
		}
	}
	if host := child(volume, "hostPath"); host != nil {
		fill(host, "type", "")
	}
	downwardDefaults(child(volume, "downwardAPI"))
	for _, source := range items(child(volume, "projected"), "sources") {
		downwardDefaults(child(source, "downwardAPI"))
		if token := child(source, "serviceAccountToken"); token != nil {
			fill(token, "expirationSeconds", int64(3600))
		}
	}
}

// podStatusDefaults writes the fields of a status that are always there.
func podStatusDefaults(status tree) {
	conditionTimes(status, "lastProbeTime", "lastTransitionTime")
	firstOf(status, "podIP", "podIPs")
	firstOf(status, "hostIP", "hostIPs")
	for _, kind := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for _, c := range items(status, kind) {
			if c == nil {
				continue
			}
			for _, key := range []string{"state", "lastState"} {
				state := made(c, key)
				nullable(child(state, "running"), "startedAt")
				nullable(child(state, "terminated"), "startedAt", "finishedAt")
			}
		}
	}
}

// firstOf keeps an address and a list of addresses together: the one is the first of the others.
func firstOf(status tree, one, several string) {
	address, list := text(status, one), items(status, several)
	switch {
	case address == "" && len(list) > 0:
		status[one] = text(list[0], "ip")
	case address != "" && (len(list) == 0 || text(list[0], "ip") != address):
		status[several] = []any{tree{"ip": address}}
	}
}

func downwardDefaults(source tree) {
	for _, item := range items(source, "items") {
		if ref := child(item, "fieldRef"); ref != nil {
			fillText(ref, "apiVersion", "v1")
		}
	}
}
