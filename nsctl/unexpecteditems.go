package nsctl

import (
	"fmt"

	"orrery/restclient/api"
)

// UnexpectedItemsError says that objects outlive their deletion although neither a grace period nor a finalizer
// explains it.
type UnexpectedItemsError struct {
	Namespace string
	Resource  api.GroupVersionResource
	Items     int
}

// Error uses the words of the original, since they appear in the namespace's conditions.
func (e *UnexpectedItemsError) Error() string {
	return fmt.Sprintf("unexpected items still remain in namespace: %s for gvr: %v", e.Namespace, e.Resource)
}
