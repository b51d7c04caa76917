package collect

import (
	"slices"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// keeper keeps the heads of at most why.MaxKept objects of a type: one with each finalizer first,
// then others that block, which have a finalizer, and then those that are younger than the
// deletion.
type keeper struct {
	name                           string
	deleted                        time.Time
	first, blockers, young, others []why.Object
}

func (k *keeper) add(o why.Object, fields api.ManagedFields) why.Object {
	kept := &k.others
	switch {
	case slices.ContainsFunc(o.Finalizers, func(f string) bool { return !k.has(f, o.Deleted.IsZero()) }):
		kept = &k.first
	case len(o.Finalizers) > 0:
		kept = &k.blockers
	case o.Created.After(k.deleted):
		kept = &k.young
	}
	if len(*kept) < why.MaxKept {
		o.Changed, o.Written = lastWrite(fields)
		*kept = append(*kept, o)
	}
	return o
}

// lastWrite returns when an object was last written, without and with its status; the zero time if
// that is not known.
func lastWrite(fields api.ManagedFields) (changed, written time.Time) {
	entries, err := fields.Entries()
	if err != nil {
		return changed, written
	}
	for _, entry := range entries {
		if entry.Time == nil {
			continue
		}
		at := entry.Time.UTC()
		if at.After(written) {
			written = at
		}
		if entry.Subresource != "status" && at.After(changed) {
			changed = at
		}
	}
	return changed, written
}

// has reports whether an object with a finalizer is kept already. Those that are terminating and
// those that are not are different cases.
func (k *keeper) has(finalizer string, awaiting bool) bool {
	return slices.ContainsFunc(k.first, func(o why.Object) bool {
		return o.Deleted.IsZero() == awaiting && slices.Contains(o.Finalizers, finalizer)
	})
}

func (k *keeper) objects() []why.Object {
	all := slices.Concat(k.first, k.blockers, k.young, k.others)
	return slices.Clip(all[:min(len(all), why.MaxKept)])
}
