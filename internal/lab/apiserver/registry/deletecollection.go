package registry

import (
	"context"

	"orrery/restclient/api"
)

// DeleteCollection deletes what a list with the same options shows, one object after the other, and returns that list.
// Objects that have gone in between are no error; the first other error ends it.
func (r *Registry) DeleteCollection(ctx context.Context, t Target, d api.DeleteOptions, l api.ListOptions, w WriteOptions) (*Page, error) {
	if err := r.CheckList(t, l); err != nil {
		return nil, err
	}
	if err := checkDeleteOptions(d); err != nil {
		return nil, err
	}
	page, err := r.List(t, l)
	if err != nil {
		return nil, err
	}
	for _, item := range page.Items {
		_, _, err := r.Delete(ctx, t.of(item), d, w)
		if err != nil && !api.IsNotFound(err) {
			return nil, err
		}
	}
	return page, nil
}
