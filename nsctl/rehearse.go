package nsctl

import "context"

// rehearse is a pass in dry-run mode: it reads what is there, reports for each type what would be deleted, and
// writes nothing. It returns nil however much there is: nothing is going to change by looking again.
func (p *pass) rehearse(ctx context.Context) error {
	for _, resource := range p.discover(ctx) {
		items, err := p.list(ctx, resource, p.namespace.Name)
		p.trace.wouldDelete(p.namespace.Name, resource.gvr, len(items), err)
		p.found.add(resource.gvr, remains{}, err)
	}
	return p.found.err()
}
