package resources

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"orrery/restclient/api"
)

const (
	clusterIP    = "ClusterIP"
	nodePort     = "NodePort"
	loadBalancer = "LoadBalancer"
	externalName = "ExternalName"
)

func fillServiceSpec(spec tree) {
	kind := text(spec, "type")
	if kind == nodePort || kind == loadBalancer || len(texts(spec, "externalIPs")) > 0 {
		fillText(spec, "externalTrafficPolicy", "Cluster")
	}
	if kind != externalName {
		fillText(spec, "internalTrafficPolicy", "Cluster")
	}
	if kind == loadBalancer {
		fill(spec, "allocateLoadBalancerNodePorts", true)
	}
}

// allocate allocates the address and ports of a service that it does not have yet.
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
			if port != nil && integer(port, "nodePort") == 0 {
				port["nodePort"] = a.port()
			}
		}
	}
}

// families sets the IP families. A headless service without a selector has both.
func families(spec tree) {
	if text(spec, "clusterIP") == "None" && len(child(spec, "selector")) == 0 && text(spec, "ipFamilyPolicy") == "" &&
		!has(spec, "ipFamilies") {
		spec["ipFamilies"], spec["ipFamilyPolicy"] = []any{"IPv4", "IPv6"}, "RequireDualStack"
		return
	}
	fill(spec, "ipFamilies", []any{"IPv4"})
	fillText(spec, "ipFamilyPolicy", "SingleStack")
}

// prepareServiceUpdate keeps the address that the client omits, so that the original manifest can
// be applied again.
func (a *allocator) prepareServiceUpdate(o, old *api.Unstructured) {
	spec := ensure(o.Object, "spec")
	if text(spec, "type") != externalName && text(spec, "clusterIP") == "" && len(texts(spec, "clusterIPs")) == 0 {
		keep(o, old, "spec", "clusterIP")
		keep(o, old, "spec", "clusterIPs")
	}
	a.allocate(spec)
}

// allocator allocates addresses and node ports in order. Each is used once until the range is
// exhausted; nothing is returned.
type allocator struct{ addresses, ports atomic.Uint32 }

// The default ranges of kube-apiserver: 10.96.0.0/12, without its first addresses, and the ports
// 30000 to 32767.
const (
	firstAddress, addressCount = 10<<24 | 96<<16 | 256, 1<<20 - 257
	firstPort, portCount       = 30000, 2768
)

func (a *allocator) address() string {
	var address [4]byte
	binary.BigEndian.PutUint32(address[:], firstAddress+a.addresses.Add(1)%addressCount)
	return netip.AddrFrom4(address).String()
}

func (a *allocator) port() int64 { return firstPort + int64(a.ports.Add(1)%portCount) }

func serviceExternal(o *api.Unstructured, _ time.Time) any {
	spec := child(o.Object, "spec")
	external := strings.Join(texts(spec, "externalIPs"), ",")
	switch text(spec, "type") {
	case loadBalancer:
		var addresses []string
		for _, ingress := range items(child(child(o.Object, "status"), "loadBalancer"), "ingress") {
			addresses = append(addresses, cmp.Or(text(ingress, "ip"), text(ingress, "hostname")))
		}
		if external != "" {
			addresses = append(addresses, external)
		}
		return cmp.Or(strings.Join(addresses, ","), "<pending>")
	case externalName:
		return text(spec, "externalName")
	}
	return cmp.Or(external, noneText)
}

func servicePorts(o *api.Unstructured, _ time.Time) any {
	var parts []string
	for _, port := range items(child(o.Object, "spec"), "ports") {
		number := decimal(integer(port, "port"))
		if node := integer(port, "nodePort"); node > 0 {
			number += ":" + decimal(node)
		}
		parts = append(parts, fmt.Sprintf("%s/%s", number, text(port, "protocol")))
	}
	return cmp.Or(strings.Join(parts, ","), noneText)
}
