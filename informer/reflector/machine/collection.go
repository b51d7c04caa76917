package machine

// collection accumulates the complete state, page by page or event by event, before the store gets
// it at once. The zero value is empty.
type collection[T any] struct {
	items []T
	pages int

	// Only for a streaming list, where objects may change before the list is complete.
	objects map[string]T
	keys    []string // of objects, and of those that were deleted again, in the order of arrival
}

// addPage adds the items of a page. It copies them, unless the page is the first: so a page is not
// kept in memory by its remaining items (kubernetes issue 113305), and a list in one page is not
// copied.
func (c *collection[T]) addPage(items []T) {
	c.pages++
	if c.pages == 1 {
		c.items = items[:len(items):len(items)]
		return
	}
	c.items = append(c.items, items...)
}

// put adds an object, or replaces the one with its key at its place.
func (c *collection[T]) put(key string, obj T) {
	if c.objects == nil {
		c.objects = map[string]T{}
	}
	if _, known := c.objects[key]; !known {
		c.keys = append(c.keys, key)
	}
	c.objects[key] = obj
}

// remove removes the object with the key, if present.
func (c *collection[T]) remove(key string) { delete(c.objects, key) }

// take returns the objects in the order of their arrival and leaves the collection empty.
func (c *collection[T]) take() []T {
	items := c.items
	for _, key := range c.keys {
		if obj, exists := c.objects[key]; exists {
			items = append(items, obj)
			delete(c.objects, key) // its key is there twice if it was deleted in between
		}
	}
	*c = collection[T]{}
	return items
}
