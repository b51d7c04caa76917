package restclient_test

import (
	"context"

	"orrery/restclient"
	"orrery/restclient/api"
)

// listerWatcher is the reflector's interface, repeated because package reflector is not below
// this package.
type listerWatcher[T any] interface {
	List(ctx context.Context, opts api.ListOptions) (*api.List[T], error)
	Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error)
}

var (
	_ listerWatcher[*api.Namespace]             = (*restclient.Resource[*api.Namespace])(nil)
	_ listerWatcher[*api.PartialObjectMetadata] = (*restclient.Resource[*api.PartialObjectMetadata])(nil)
	_ listerWatcher[*api.Unstructured]          = (*restclient.Resource[*api.Unstructured])(nil)
)
