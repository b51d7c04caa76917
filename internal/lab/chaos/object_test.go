package chaos

import "orrery/informer"

// object is the constraint of the objects in informers. All types of restclient/api satisfy it.
type object interface {
	informer.Object
	GetLabels() map[string]string
	GetUID() string
}
