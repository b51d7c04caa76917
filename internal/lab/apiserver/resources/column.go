package resources

import (
	"time"

	"orrery/restclient/api"
)

// cell makes the cell of an object; now is what ages are counted to.
type cell = func(o *api.Unstructured, now time.Time) any

// Column is a column of a table.
type Column struct {
	// Name is the heading; kubectl shows it in upper case.
	Name string
	// Type is the OpenAPI type of the cells: "string", "integer", "number", "boolean" or "date".
	Type string
	// Format is the OpenAPI format: "name" for the column that holds the name of the object, else mostly "".
	Format string
	// Description says what the column shows.
	Description string
	// Priority 0 is always shown, others only by `-o wide`.
	Priority int32
	// Cell makes the cell of an object: a string, int64, float64, bool or nil. now is what ages are counted to.
	Cell func(o *api.Unstructured, now time.Time) any
}
