package nsctl

import "context"

// rehearse is a pass in dry-run mode: it reads what is there, reports for each type what would be deleted, and
// writes nothing. It returns nil however much there is: nothing is going to change by looking again.
func (p *pass) rehearse(ctx context.Context) error {
	resources := p.discover(ctx)
	counts, errs := make([]int, len(resources)), make([]error, len(resources))
	for i, resource := range resources {
		items, err := p.list(ctx, resource, p.namespace.Name)
		counts[i], errs[i] = len(items), err
	}
	p.forgiveVanished(ctx, resources, errs)
	for i, resource := range resources {
		p.trace.wouldDelete(p.namespace.Name, resource.gvr, counts[i], errs[i])
		p.found.add(resource.gvr, remains{}, errs[i])
	}
	return p.found.err()
}
