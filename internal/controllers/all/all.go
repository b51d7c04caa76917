package all

import (
	"time"

	"orrery/internal/controllers"
	"orrery/internal/rbac"
	"orrery/restclient/api"
)

// Options are what can be chosen for single controllers. The zero value of each field is that
// controller's default.
type Options struct {
	Namespace      NamespaceOptions
	VirtualMachine VirtualMachineOptions
	Apps           AppsOptions
	SecondParty    SecondPartyOptions
	Garbage        GarbageCollectorOptions
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
		deploymentController(options.Apps),
		garbageCollector(options.Garbage),
		namespaceController(options.Namespace),
		replicaSetController(options.Apps),
		secondPartyController(options.SecondParty),
		virtualMachine(options.VirtualMachine),
	}
}

// right is one to all objects of a resource, or to a subresource of them.
func right(resource api.GroupVersionResource, subresource, reason string, verbs ...string) rbac.Right {
	name := resource.Resource
	if subresource != "" {
		name += "/" + subresource
	}
	return rbac.Right{Rule: rbac.Rule{APIGroups: []string{resource.Group}, Resources: []string{name}, Verbs: verbs}, Reason: reason}
}

// about refers to an object in an Event.
func about(kind, apiVersion string, object *api.ObjectMeta) api.ObjectReference {
	return api.ObjectReference{
		Kind: kind, APIVersion: apiVersion, Namespace: object.Namespace, Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion,
	}
}
