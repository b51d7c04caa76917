package machine

// collection accumulates the complete state, page by page or event by event, before the store gets
// it at once. The zero value is empty.
type collection[T any] struct {
	items []T
	pages int

	// Only for a streaming list, where objects may change before the list is complete.
	index map[string]int // key -> place in items
	holes map[int]bool   // places of objects that were deleted again
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
	if place, known := c.index[key]; known {
		c.items[place] = obj
		return
	}
	if c.index == nil {
		c.index = map[string]int{}
	}
	c.index[key] = len(c.items)
	c.items = append(c.items, obj)
}

// remove removes the object with the key, if present.
func (c *collection[T]) remove(key string) {
	place, known := c.index[key]
	if !known {
		return
	}
	delete(c.index, key)
	if c.holes == nil {
		c.holes = map[int]bool{}
	}
	c.holes[place] = true
	var zero T
	c.items[place] = zero
}

// take returns the objects in the order of their arrival and leaves the collection empty.
func (c *collection[T]) take() []T {
	items := c.items
	if len(c.holes) > 0 {
		items = make([]T, 0, len(c.items)-len(c.holes))
		for place, obj := range c.items {
			if !c.holes[place] {
				items = append(items, obj)
			}
		}
	}
	*c = collection[T]{}
	return items
}
