package nsctl

import (
	"errors"
	"fmt"

	"orrery/restclient/discovery"
)

// discoveryMessage is what the discovery condition says. When some groups failed the message counts and names
// them, so that an operator sees at once which aggregated API is down.
func discoveryMessage(err error) string {
	var groups *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &groups) {
		return fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(groups.Groups), groups)
	}
	return err.Error()
}
