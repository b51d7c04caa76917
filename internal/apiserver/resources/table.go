package resources

import (
	"iter"
	"time"

	"orrery/internal/apiserver/store"
)

// TableOptions say what a table looks like beyond its rows.
type TableOptions struct {
	// APIVersion is the version of Table to write: "meta.k8s.io/v1", which is also the meaning of "".
	APIVersion string
	// Include is what the rows carry of the objects: "Metadata" (also ""), "Object" or "None".
	Include string
	// NoHeaders leaves the column definitions out, as in the later events of a watch.
	NoHeaders bool
	// Now is what ages are counted to; zero is the moment of the call.
	Now time.Time
	// ResourceVersion, Continue and Remaining are the metadata of the list.
	ResourceVersion, Continue string
	Remaining                 *int64
}

// Table appends to dst the meta.k8s.io Table of the objects and returns the extended buffer.
func Table(dst []byte, d *Definition, objects iter.Seq[*store.Object], options TableOptions) []byte {
	return dst
}
