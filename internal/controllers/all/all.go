package all

import (
	"time"

	"orrery/internal/controllers"
)

// Options are what can be chosen for single controllers. The zero value of each field is that controller's default.
type Options struct {
	Namespace NamespaceOptions
}

// NamespaceOptions are those of the namespace controller, see nsctl.Config and nsctl.DeleterConfig.
type NamespaceOptions struct {
	Workers         int
	SyncPeriod      time.Duration
	GracePeriod     time.Duration
	TypeConcurrency int
}

// Descriptors returns all controllers, sorted by name.
func Descriptors(options Options) []controllers.Descriptor {
	return []controllers.Descriptor{
		namespaceController(options.Namespace),
	}
}
