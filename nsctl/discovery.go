package nsctl

import (
	"errors"
	"fmt"

	"orrery/restclient/discovery"
)

// ErrNothingDiscovered says that a server lists no type at all that could be deleted. It has namespaces, so that
// cannot be true, and nothing may be concluded from it.
var ErrNothingDiscovered = errors.New("the API server lists no resource types")

// discoveryMessage is what the discovery condition says. When some groups failed the message counts and names
// them, so that an operator sees at once which aggregated API is down.
func discoveryMessage(err error) string {
	var groups *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &groups) {
		return fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(groups.Groups), groups)
	}
	return err.Error()
}
