package chaos

import "orrery/informer"

// object is what an informer of a run may hold. All types of restclient/api are.
type object interface {
	informer.Object
	GetLabels() map[string]string
	GetUID() string
}
