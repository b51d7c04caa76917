//go:build !linux

package leaderelection

import "time"

// suspended is unknown here. After a suspension longer than the lease, a machine may for a moment
// regard itself as the leader.
func suspended() time.Duration { return 0 }
