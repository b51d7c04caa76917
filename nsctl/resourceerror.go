package nsctl

import (
	"errors"
	"fmt"
	"strings"

	"orrery/restclient/api"
)

// ResourceError says that a request about one type of a namespace's content failed.
type ResourceError struct {
	// Doing is what failed: "deleting the collection", "listing" or "deleting NAME".
	Doing    string
	Resource api.GroupVersionResource
	Err      error
}

// Error calls the type as kubectl does: "pods", "deployments.apps".
func (e *ResourceError) Error() string {
	return fmt.Sprintf("%s of %s: %v", e.Doing, strings.TrimSuffix(e.Resource.GroupResource(), "."), e.Err)
}

// Unwrap returns the cause.
func (e *ResourceError) Unwrap() error { return e.Err }

// conditionText is how an error reads in a condition: the server's own words where it gave any, as in the
// original, without the context that a log line needs.
func conditionText(err error) string {
	var status *api.StatusError
	if errors.As(err, &status) {
		return status.Error()
	}
	var resource *ResourceError
	if errors.As(err, &resource) {
		return resource.Err.Error()
	}
	return err.Error()
}
