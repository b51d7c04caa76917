package resources

import (
	"net/netip"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

func validateService(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	// Invalid addresses fail at allocation, before everything else.
	if m.addresses(spec); len(m) > 0 {
		return m
	}
	kind := text(spec, "type")
	headless := text(spec, "clusterIP") == "None"
	if len(items(spec, "ports")) == 0 && !headless && kind != externalName {
		m.required("spec.ports", "")
	}
	if kind == externalName {
		m.externalName(text(spec, "externalName"))
	}
	m.servicePorts(spec, headless)
	labels := child(spec, "selector")
	m.labels(labels, "spec.selector")
	m.oneOf(spec, "sessionAffinity", "spec.sessionAffinity", true, "ClientIP", "None")
	m.oneOf(spec, "type", "spec.type", true, clusterIP, externalName, loadBalancer, nodePort)
	m.oneOf(spec, "internalTrafficPolicy", "spec.internalTrafficPolicy", false, "Cluster", "Local")
	m.oneOf(spec, "externalTrafficPolicy", "spec.externalTrafficPolicy", false, "Cluster", "Local")
	return m
}

func (m *errorList) addresses(spec tree) {
	if text(spec, "type") == externalName {
		return
	}
	for i, address := range texts(spec, "clusterIPs") {
		if _, err := netip.ParseAddr(address); err != nil && address != "None" {
			m.invalid(at("spec.clusterIPs", i), address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
		}
	}
}

func (m *errorList) externalName(name string) {
	if name == "" {
		m.required("spec.externalName", "")
		return
	}
	m.names("spec.externalName", name, names.Subdomain(name))
}

func (m *errorList) servicePorts(spec tree, headless bool) {
	ports := items(spec, "ports")
	seen := map[string]bool{}
	for i, port := range ports {
		m.servicePort(port, at("spec.ports", i), len(ports) > 1, headless, seen)
	}
	type address struct {
		protocol string
		port     int64
	}
	served := map[address]bool{}
	for i, port := range ports {
		key := address{text(port, "protocol"), integer(port, "port")}
		if served[key] {
			m.duplicate(at("spec.ports", i), shownPort{Protocol: key.protocol, Port: key.port})
		}
		served[key] = true
	}
}

// shownPort is a port as messages show it.
type shownPort struct {
	Name, Protocol       string
	AppProtocol          *string
	Port                 int64
	TargetPort, NodePort int
}

func (m *errorList) servicePort(port tree, path string, several, headless bool, seen map[string]bool) {
	name := text(port, "name")
	switch {
	case name == "" && several:
		m.required(path+".name", "")
	case name != "" && len(names.Label(name)) > 0:
		m.names(path+".name", name, names.Label(name))
	case name != "" && seen[name]:
		m.duplicate(path+".name", name)
	}
	seen[name] = true
	if number := integer(port, "port"); !isPort(number) {
		m.invalid(path+".port", number, portRange)
	}
	m.oneOf(port, "protocol", path+".protocol", true, "SCTP", "TCP", "UDP")
	switch target := port["targetPort"].(type) {
	case int64:
		if !isPort(target) {
			m.invalid(path+".targetPort", target, portRange)
		}
	case string:
		m.names(path+".targetPort", target, names.PortName(target))
	}
	if number := integer(port, "nodePort"); number != 0 {
		m.nodePort(number, path+".nodePort")
	}
}

func (m *errorList) nodePort(number int64, path string) {
	if number < firstPort || number >= firstPort+portCount {
		m.invalid(path, number, "provided port is not in the valid range. The range of valid ports is 30000-32767")
	}
}

func validateServiceUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	var m errorList
	before, now := old.NestedStringSlice("spec", "clusterIPs"), o.NestedStringSlice("spec", "clusterIPs")
	stays := o.NestedString("spec", "type") != externalName && old.NestedString("spec", "type") != externalName
	if stays && len(before) > 0 && (len(now) == 0 || now[0] != before[0]) {
		m.invalid("spec.clusterIPs[0]", now, "may not change once set")
	}
	return append(m, validateService(o)...)
}
