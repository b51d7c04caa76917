package nsctl

import (
	"fmt"
	"time"
)

// ResourcesRemainingError says that a pass went well and is not enough: something in the namespace needs time to
// end. It is not a failure and the failure counter of the namespace does not move.
type ResourcesRemainingError struct {
	// Estimate is the number of seconds after which it is worth looking again.
	Estimate int64
}

// Error uses the words of the original, which operators search their logs for.
func (e *ResourcesRemainingError) Error() string {
	return fmt.Sprintf("some content remains in the namespace, estimate %d seconds before it is removed", e.Estimate)
}

// RequeueAfter is when to look again: half the estimate, in whole seconds, and one more. Pods often end sooner
// than their grace period allows, and looking too early costs a handful of requests only.
func (e *ResourcesRemainingError) RequeueAfter() time.Duration {
	return time.Duration(e.Estimate/2+1) * time.Second
}
