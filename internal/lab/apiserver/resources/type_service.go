package resources

import (
	"orrery/restclient/api"
)

// services give pods a common name and address.
func services(a *allocator) *Definition {
	return &Definition{
		Plural: "services",
		Columns: []Column{
			nameColumn(),
			{Name: "Type", Type: "string", Description: "From where the service can be reached.", Cell: field("spec", "type")},
			{Name: "Cluster-IP", Type: "string", Description: "The address inside of the cluster.", Cell: fieldOr(noneText, "spec", "clusterIP")},
			{Name: "External-IP", Type: "string", Description: "The addresses outside of the cluster.", Cell: serviceExternal},
			{Name: "Port(s)", Type: "string", Description: "The ports, with that of the nodes where there is one.", Cell: servicePorts},
			ageColumn(),
			{Name: "Selector", Type: "string", Priority: 1, Description: "The labels by which the pods are found.", Cell: labelSetCell("spec", "selector")},
		},
		Selectable: []string{"spec.clusterIP", "spec.type"},
		Fields: func(o *api.Unstructured) map[string]string {
			return map[string]string{"spec.clusterIP": o.NestedString("spec", "clusterIP"), "spec.type": o.NestedString("spec", "type")}
		},
		Strategy: Strategy{
			Default:                  defaultService,
			PrepareCreate:            a.prepareService,
			PrepareUpdate:            a.prepareServiceUpdate,
			PrepareStatus:            keepAllButStatus,
			Validate:                 validateService,
			ValidateUpdate:           validateServiceUpdate,
			ValidateName:             labelName,
			AllowUnconditionalUpdate: true,
			AllowCreateOnUpdate:      true,
		},
	}
}

const (
	clusterIP    = "ClusterIP"
	nodePort     = "NodePort"
	loadBalancer = "LoadBalancer"
	externalName = "ExternalName"
)

func defaultService(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	fillText(spec, "sessionAffinity", "None")
	fillText(spec, "type", clusterIP)
	switch text(spec, "sessionAffinity") {
	case "ClientIP":
		fill(made(made(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", int64(10800))
	case "None":
		delete(spec, "sessionAffinityConfig")
	}
	for _, port := range items(spec, "ports") {
		servicePortDefaults(port)
	}
	kind := text(spec, "type")
	if kind == nodePort || kind == loadBalancer || len(texts(spec, "externalIPs")) > 0 {
		fillText(spec, "externalTrafficPolicy", "Cluster")
	}
	if kind != externalName {
		fillText(spec, "internalTrafficPolicy", "Cluster")
	}
	if kind == loadBalancer {
		fill(spec, "allocateLoadBalancerNodePorts", true)
		for _, ingress := range items(child(child(o.Object, "status"), "loadBalancer"), "ingress") {
			if text(ingress, "ip") != "" {
				fillText(ingress, "ipMode", "VIP")
			}
		}
	}
}

func servicePortDefaults(port tree) {
	if port == nil {
		return
	}
	fillText(port, "protocol", "TCP")
	if target := port["targetPort"]; target == nil || target == int64(0) || target == "" {
		port["targetPort"] = whole(port, "port")
	}
}

// prepareService gives a new service its address and ports.
func (a *allocator) prepareService(o *api.Unstructured) {
	o.Object["status"] = tree{"loadBalancer": tree{}}
	a.allocate(made(o.Object, "spec"))
}

func (a *allocator) allocate(spec tree) {
	kind := text(spec, "type")
	if kind == externalName {
		return
	}
	if address := text(spec, "clusterIP"); address == "" {
		if chosen := texts(spec, "clusterIPs"); len(chosen) > 0 {
			spec["clusterIP"] = chosen[0]
		} else {
			spec["clusterIP"] = a.address()
		}
	}
	if len(texts(spec, "clusterIPs")) == 0 {
		spec["clusterIPs"] = []any{spec["clusterIP"]}
	}
	families(spec)
	if kind == nodePort || kind == loadBalancer && spec["allocateLoadBalancerNodePorts"] != false {
		for _, port := range items(spec, "ports") {
			if port != nil && whole(port, "nodePort") == 0 {
				port["nodePort"] = a.port()
			}
		}
	}
	if kind == loadBalancer && text(spec, "externalTrafficPolicy") == "Local" && whole(spec, "healthCheckNodePort") == 0 {
		spec["healthCheckNodePort"] = a.port()
	}
}

// families says which kinds of addresses the service has. One that has none of its own, and no selector to take those of pods, is
// open for both.
func families(spec tree) {
	if text(spec, "clusterIP") == "None" && len(child(spec, "selector")) == 0 && text(spec, "ipFamilyPolicy") == "" && !has(spec, "ipFamilies") {
		spec["ipFamilies"], spec["ipFamilyPolicy"] = []any{"IPv4", "IPv6"}, "RequireDualStack"
		return
	}
	fill(spec, "ipFamilies", []any{"IPv4"})
	fillText(spec, "ipFamilyPolicy", "SingleStack")
}

// prepareServiceUpdate keeps what was allocated where the client leaves it out, as one does who writes the manifest again
// that the service was made with. A service that becomes a name loses its addresses.
func (a *allocator) prepareServiceUpdate(o, old *api.Unstructured) {
	keepStatus(o, old)
	spec, before := made(o.Object, "spec"), child(old.Object, "spec")
	if text(spec, "type") == externalName {
		if text(before, "type") != externalName {
			for _, key := range []string{"ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy", "externalTrafficPolicy"} {
				if same(spec[key], before[key]) {
					delete(spec, key)
				}
			}
		}
		return
	}
	if text(before, "type") != externalName && text(spec, "clusterIP") == "" && len(texts(spec, "clusterIPs")) == 0 {
		keep(o, old, "spec", "clusterIP")
		keep(o, old, "spec", "clusterIPs")
	}
	keepNodePorts(spec, before)
	a.allocate(spec)
}

// keepNodePorts gives a port without a node port the one that the same port had.
func keepNodePorts(spec, before tree) {
	if kind := text(spec, "type"); kind != nodePort && kind != loadBalancer {
		return
	}
	type key struct {
		protocol string
		port     int64
	}
	ports := map[key]int64{}
	for _, port := range items(before, "ports") {
		ports[key{text(port, "protocol"), whole(port, "port")}] = whole(port, "nodePort")
	}
	for _, port := range items(spec, "ports") {
		if number := ports[key{text(port, "protocol"), whole(port, "port")}]; number != 0 && whole(port, "nodePort") == 0 {
			port["nodePort"] = number
		}
	}
}
