package collect

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"orrery/internal/why"
	"orrery/restclient"
)

// CollectAll collects the evidence for each terminating namespace, sorted by name.
//   - Each type is listed once for all of them, and each collection of the cluster is read once.
//     Single objects, such as a Service, are read for each namespace that needs them.
//   - The second sample lists, in each namespace, only the types that it had objects of.
//   - The limits of the options apply to the whole.
//   - A namespace that goes before its first sample is left out; one that goes before its second is
//     reported as absent.
//
// CollectAll fails as [Collect] does.
func CollectAll(ctx context.Context, client *restclient.Client, options Options) ([]why.Evidence, error) {
	began := time.Now()
	root := newCollector(client, "", options)
	root.many = true
	bounded, cancel := context.WithTimeout(ctx, root.options.Timeout)
	defer cancel()
	names, err := root.inDeletionNow(bounded)
	if err != nil {
		return nil, err
	}
	options.MaxRequests = cmp.Or(options.MaxRequests, DefaultMaxRequests+RequestsEach*len(names))
	var all []*collector
	var refused []why.Evidence // of namespaces that this user may list, and not read
	for _, name := range names {
		c := newCollector(client, name, options)
		c.shared, c.evidence.Terminating = root.shared, names
		if err := c.first(bounded); err != nil {
			return nil, err
		}
		switch failed := c.evidence.Refused; {
		case c.inDeletion():
			all = append(all, c)
		case failed != nil && failed.Code != http.StatusNotFound:
			refused = append(refused, c.evidence)
		}
	}
	if len(all) == 0 {
		return refused, context.Cause(ctx)
	}
	first := all[0]
	first.environment(bounded)
	for _, c := range all[1:] {
		c.evidence.Server = first.evidence.Server
		c.copyControl(first)
	}
	contents(bounded, all...)
	first.noteLeases(bounded, all...)
	for _, c := range all {
		c.evidence.Took = time.Since(began)
	}
	first.complete(ctx, bounded, all...)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	evidence := refused
	for _, c := range all {
		if c.cut == "" {
			c.cut = first.cut // a list for all of them
		}
		c.finish()
		evidence = append(evidence, c.evidence)
	}
	slices.SortFunc(evidence, func(a, b why.Evidence) int { return cmp.Compare(a.Name, b.Name) })
	return evidence, nil
}
