package secondparty

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// Token is what the second party has in spec.finalizers, the design document's.
const Token = "openshift.com/origin"

// DeleterConfig returns the configuration of the second party's deleter.
func DeleterConfig(namespaces nsctl.NamespaceClient, storage *Storage) nsctl.DeleterConfig {
	return nsctl.DeleterConfig{Namespaces: namespaces, Content: storage, Discovery: storage, FinalizerToken: Token}
}

// Why a namespace gets no content.
var (
	ErrNotHeld     = errors.New("the namespace does not have the token " + Token + " in spec.finalizers: nothing would keep it until its content is gone")
	ErrTerminating = errors.New("the namespace is being deleted")
)

// Create stores an object for a namespace, as an API server of the second party would. It returns
// an error that wraps [ErrNotHeld] or [ErrTerminating] if the namespace must not have content.
//
// A deletion may come between reading the namespace and storing the object. The grace period of the
// controller is for that.
func Create(ctx context.Context, namespaces nsctl.NamespaceClient, storage *Storage, gvr api.GroupVersionResource, namespace, name string) error {
	found, err := namespaces.Get(ctx, namespace, api.GetOptions{})
	switch {
	case err != nil:
	case found.DeletionTimestamp != nil:
		err = ErrTerminating
	case !slices.Contains(found.Spec.Finalizers, Token):
		err = ErrNotHeld
	default:
		err = storage.create(gvr, namespace, name)
	}
	if err != nil {
		return fmt.Errorf("creating %s %s in namespace %s: %w", gvr.Resource, name, namespace, err)
	}
	return nil
}
