package discovery

import (
	"mime"
	"strings"
)

// Negotiate tells from Accept headers whether a client wants the aggregated form: the first that is known counts. Nothing that
// this server has is a refusal.
func Negotiate(accept []string) (aggregated, refused bool) {
	header := strings.Join(accept, ",")
	if strings.TrimSpace(header) == "" {
		return false, false
	}
	for text := range strings.SplitSeq(header, ",") {
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		switch mediaType {
		case "application/json":
			if params["as"] == "APIGroupDiscoveryList" && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" {
				return true, false
			}
			if params["as"] == "" {
				return false, false
			}
		case "application/yaml", "application/*", "*/*":
			if params["as"] == "" {
				return false, false
			}
		}
	}
	return false, true
}
