package registry

import "orrery/internal/lab/apiserver/store"

// Page is the answer to a list request: all of a collection, or a part of it.
type Page struct {
	// Items are in the order of namespace and name. They are shared: read only.
	Items []*store.Object
	// Version is the one at which the collection looked like this: all pages of a list have the same.
	Version uint64
	// Continue asks for the next page; "" on the last one.
	Continue string
	// Remaining is how many items are on the pages to come; nil on the last page, and if selectors make it unknown.
	Remaining *int64
}
