package resources

import (
	"fmt"
	"strings"
	"time"

	"orrery/restclient/api"
)

func serviceExternal(o *api.Unstructured, _ time.Time) any {
	spec := child(o.Object, "spec")
	external := strings.Join(texts(spec, "externalIPs"), ",")
	switch text(spec, "type") {
	case loadBalancer:
		var addresses []string
		for _, ingress := range items(child(child(o.Object, "status"), "loadBalancer"), "ingress") {
			addresses = append(addresses, or(text(ingress, "ip"), text(ingress, "hostname")))
		}
		if external != "" {
			addresses = append(addresses, external)
		}
		return or(strings.Join(addresses, ","), "<pending>")
	case externalName:
		return text(spec, "externalName")
	}
	return or(external, noneText)
}

func servicePorts(o *api.Unstructured, _ time.Time) any {
	var parts []string
	for _, port := range items(child(o.Object, "spec"), "ports") {
		number := decimal(whole(port, "port"))
		if node := whole(port, "nodePort"); node > 0 {
			number += ":" + decimal(node)
		}
		parts = append(parts, fmt.Sprintf("%s/%s", number, text(port, "protocol")))
	}
	return or(strings.Join(parts, ","), noneText)
}
