package nsctl

import (
	"context"

	"orrery/restclient/api"
)

// rehearse is a pass in dry-run mode: it reads what is there, reports for each type what would be deleted, and
// writes nothing. It returns nil however much there is: nothing is going to change by looking again.
func (d *Deleter) rehearse(ctx context.Context, namespace *api.Namespace) error {
	var found findings
	resources := d.discover(ctx, namespace, &found)
	for _, resource := range resources {
		items, err := d.list(ctx, resource, namespace.Name)
		d.trace.wouldDelete(namespace.Name, resource.gvr, len(items), err)
		found.add(resource.gvr, remains{}, err)
	}
	return found.err()
}
