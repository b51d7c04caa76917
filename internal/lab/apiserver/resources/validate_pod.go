package resources

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

func validatePodStatus(o, old *api.Unstructured) []apierrors.FieldError {
	var m errorList
	nominated := o.NestedString("status", "nominatedNodeName")
	if o.NestedString("spec", "nodeName") != "" && nominated != "" && nominated != old.NestedString("status", "nominatedNodeName") {
		m.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")
	}
	return m
}

const podImmutable = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate allows changes of images, the deadline, added tolerations and, while the pod is
// gated, its scheduling gates. It omits the comparison that kube-apiserver appends to the message.
func validatePodUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec, before := child(o.Object, "spec"), child(old.Object, "spec")
	for _, kind := range []string{"containers", "initContainers"} {
		if len(items(spec, kind)) != len(items(before, kind)) {
			m.forbidden("spec."+kind, "pod updates may not add or remove containers")
			return m
		}
		for i, container := range items(spec, kind) {
			m.image(container, at("spec."+kind, i)+".image")
		}
	}
	m.deadline(spec, before)
	patched, _ := cloneValue(spec).(tree)
	for _, kind := range []string{"containers", "initContainers"} {
		olds := items(before, kind)
		for i, container := range items(patched, kind) {
			if container != nil {
				container["image"] = olds[i]["image"]
			}
		}
	}
	patched["activeDeadlineSeconds"] = before["activeDeadlineSeconds"]
	if isAddition(patched, before, "tolerations") {
		patched["tolerations"] = before["tolerations"]
	}
	if isAddition(before, patched, "schedulingGates") {
		patched["schedulingGates"] = before["schedulingGates"]
	}
	if seconds, ok := before["terminationGracePeriodSeconds"].(int64); ok && seconds < 0 && integer(patched, "terminationGracePeriodSeconds") == 1 {
		patched["terminationGracePeriodSeconds"] = seconds
	}
	if !sameFields(patched, before) {
		m.forbidden("spec", podImmutable)
	}
	return m
}

// deadline checks that activeDeadlineSeconds is only set or reduced.
func (m *errorList) deadline(spec, before tree) {
	const path = "spec.activeDeadlineSeconds"
	if !has(spec, "activeDeadlineSeconds") {
		if has(before, "activeDeadlineSeconds") {
			m.invalid(path, nil, "must not update from a positive integer to nil value")
		}
		return
	}
	n := integer(spec, "activeDeadlineSeconds")
	if has(before, "activeDeadlineSeconds") && n > integer(before, "activeDeadlineSeconds") {
		m.invalid(path, n, "must be less than or equal to previous value")
	}
}

// isAddition reports whether all old items are among the new ones.
func isAddition(o, old tree, key string) bool {
	for _, item := range items(old, key) {
		if !slices.ContainsFunc(items(o, key), func(other tree) bool { return reflect.DeepEqual(item, other) }) {
			return false
		}
	}
	return true
}

// sameFields compares two objects field by field with [same].
func sameFields(a, b tree) bool {
	for key := range a {
		if !same(a[key], b[key]) {
			return false
		}
	}
	for key := range b {
		if !has(a, key) && !isNothing(b[key]) {
			return false
		}
	}
	return true
}

func validatePod(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	m.podSpec(child(o.Object, "spec"), "spec")
	return m
}

// podSpec validates a pod or pod template, in upstream's order.
func (m *errorList) podSpec(spec tree, path string) {
	volumes := m.volumes(spec, path+".volumes")
	seen := map[string]bool{}
	containers := items(spec, "containers")
	if len(containers) == 0 {
		m.required(path+".containers", "")
	}
	for i, container := range containers {
		m.container(container, at(path+".containers", i), volumes, seen)
	}
	for i, container := range items(spec, "initContainers") {
		m.container(container, at(path+".initContainers", i), volumes, seen)
	}
	m.oneOf(spec, "restartPolicy", path+".restartPolicy", true, "Always", "OnFailure", "Never")
	m.oneOf(spec, "dnsPolicy", path+".dnsPolicy", true, "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	m.nodeSelector(child(spec, "nodeSelector"), path+".nodeSelector")
	if account := text(spec, "serviceAccountName"); account != "" {
		m.names(path+".serviceAccountName", account, names.Subdomain(account))
	}
	if node := text(spec, "nodeName"); node != "" {
		m.names(path+".nodeName", node, names.Subdomain(node))
	}
	if has(spec, "activeDeadlineSeconds") {
		if n := integer(spec, "activeDeadlineSeconds"); n < 1 || n > math.MaxInt32 {
			m.invalid(path+".activeDeadlineSeconds", n, "must be between 1 and 2147483647, inclusive")
		}
	}
	if host := text(spec, "hostname"); host != "" {
		m.names(path+".hostname", host, names.Label(host))
	}
	if domain := text(spec, "subdomain"); domain != "" {
		m.names(path+".subdomain", domain, names.Label(domain))
	}
}

// volumes validates the names of volumes and returns them.
func (m *errorList) volumes(spec tree, path string) map[string]bool {
	seen := map[string]bool{}
	for i, volume := range items(spec, "volumes") {
		name := text(volume, "name")
		switch field := at(path, i) + ".name"; {
		case name == "":
			m.required(field, "")
		case len(names.Label(name)) > 0:
			m.names(field, name, names.Label(name))
		case seen[name]:
			m.duplicate(field, name)
		}
		seen[name] = true
	}
	return seen
}

func (m *errorList) container(c tree, path string, volumes, seen map[string]bool) {
	name := text(c, "name")
	switch {
	case name == "":
		m.required(path+".name", "")
	case len(names.Label(name)) > 0:
		m.names(path+".name", name, names.Label(name))
	case seen[name]:
		m.duplicate(path+".name", name)
	}
	seen[name] = true
	m.image(c, path+".image")
	m.oneOf(c, "terminationMessagePolicy", path+".terminationMessagePolicy", true, "File", "FallbackToLogsOnError")
	m.containerPorts(c, path+".ports")
	m.environment(c, path+".env")
	m.mounts(c, path+".volumeMounts", volumes)
	m.oneOf(c, "imagePullPolicy", path+".imagePullPolicy", true, "Always", "IfNotPresent", "Never")
	m.containerResources(child(c, "resources"), path+".resources")
}

func (m *errorList) image(c tree, path string) {
	switch image := text(c, "image"); {
	case image == "":
		m.required(path, "")
	case strings.TrimSpace(image) != image:
		m.invalid(path, image, "must not have leading or trailing whitespace")
	}
}

const portRange = "must be between 1 and 65535, inclusive"

func isPort(n int64) bool { return n >= 1 && n <= 65535 }

func (m *errorList) containerPorts(c tree, path string) {
	seen := map[string]bool{}
	for i, port := range items(c, "ports") {
		path := at(path, i)
		if name := text(port, "name"); name != "" {
			m.names(path+".name", name, names.PortName(name))
			if len(names.PortName(name)) == 0 && seen[name] {
				m.duplicate(path+".name", name)
			}
			seen[name] = true
		}
		switch number := integer(port, "containerPort"); {
		case number == 0:
			m.required(path+".containerPort", "")
		case !isPort(number):
			m.invalid(path+".containerPort", number, portRange)
		}
		if number := integer(port, "hostPort"); number != 0 && !isPort(number) {
			m.invalid(path+".hostPort", number, portRange)
		}
		m.oneOf(port, "protocol", path+".protocol", true, "SCTP", "TCP", "UDP")
	}
}

func (m *errorList) environment(c tree, path string) {
	for i, variable := range items(c, "env") {
		field := at(path, i) + ".name"
		switch name := text(variable, "name"); {
		case name == "":
			m.required(field, "")
		case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || r == '=' }):
			m.invalid(field, name, "a valid environment variable name must consist only of printable ASCII characters other than '='")
		}
	}
}

func (m *errorList) mounts(c tree, path string, volumes map[string]bool) {
	seen := map[string]bool{}
	for i, mount := range items(c, "volumeMounts") {
		path := at(path, i)
		name := text(mount, "name")
		if name == "" {
			m.required(path+".name", "")
		}
		if !volumes[name] {
			m.add(apierrors.FieldNotFound, path+".name", name, "")
		}
		where := text(mount, "mountPath")
		if where == "" {
			m.required(path+".mountPath", "")
		}
		if seen[where] {
			m.invalid(path+".mountPath", where, "must be unique")
		}
		seen[where] = true
	}
}

// containerResources checks that quantities are not negative and requests do not exceed limits.
func (m *errorList) containerResources(resources tree, path string) {
	limits, requests := child(resources, "limits"), child(resources, "requests")
	for _, name := range sortedKeys(limits) {
		m.amount(limits[name], under(path+".limits", name))
	}
	for _, name := range sortedKeys(requests) {
		m.amount(requests[name], under(path+".requests", name))
		if order, ok := compareQuantities(requests[name], limits[name]); ok && order > 0 {
			m.invalid(path+".requests", quantityText(requests[name]), "must be less than or equal to "+name+" limit of "+limits[name].(string))
		}
	}
}

// amount checks that a quantity is not negative.
func (m *errorList) amount(value any, path string) {
	if order, ok := compareQuantities(value, int64(0)); ok && order < 0 {
		m.invalid(path, value, "must be greater than or equal to 0")
	}
}

func (m *errorList) nodeSelector(labels tree, path string) {
	for _, key := range sortedKeys(labels) {
		m.names(path, key, names.Qualified(key))
		m.names(path, text(labels, key), names.LabelValue(text(labels, key)))
	}
}
