package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"orrery/cmd/orrery/controllers"
	"orrery/controller/manager"
	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/internal/words"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// exitWouldWrite is the exit code of --dry-run --once if a run would write something.
const exitWouldWrite = 2

// looks is how often a namespace is looked into if the server answers "later": a run would make
// another pass.
const looks = 5

// lookOnce is "orrery run --dry-run --once": it looks into every selected namespace that is being
// deleted and writes to stdout what a run would delete. If a run would write anything it returns
// [program.Exit]; if not everything could be seen, another error.
func lookOnce(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger, stdout io.Writer) error {
	isNamespaces := func(d manager.Descriptor) bool { return d.Name == controllers.NamespaceController }
	d := options.chosen[slices.IndexFunc(options.chosen, isNamespaces)]
	client = client.As(client.Config().UserAgent+" "+d.Name, options.qps*float32(d.QPSFactor), options.burst*d.BurstFactor)
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	deleted, err := namespaces.List(ctx, api.ListOptions{FieldSelector: "status.phase=" + string(api.NamespaceTerminating)})
	if ctx.Err() != nil {
		return options.stoppedEarly(ctx)
	}
	if err != nil {
		return &startError{doing: "listing namespaces", server: client.Config().Host, err: err}
	}
	inDeletion := len(deleted.Items)
	deleted.Items = slices.DeleteFunc(deleted.Items, func(n *api.Namespace) bool {
		return !options.each.Namespace.Selection.Selects(n.Name)
	})
	content := &seenContent{types: map[string]map[string]nsctl.Found{}}
	hooks := logger.Namespaces()
	hooks.WouldDelete = content.wouldDelete // the table has it, and not the log
	deleter := nsctl.NewDryRun(nsctl.DeleterConfig{
		Namespaces: namespaces, Content: nsctl.NewContentClient(client), Trace: hooks,
		Discovery: discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true})),
	})
	errs := make([]error, len(deleted.Items))
	nsctl.Parallelize(len(deleted.Items), options.each.Namespace.Workers, func(i int) {
		namespace := deleted.Items[i]
		for range looks {
			errs[i] = deleter.Delete(ctx, namespace.Name, nsctl.ObservedDeletion{UID: namespace.UID})
			if later := api.RetryAfterOf(errs[i]); later == 0 || wait.Sleep(ctx, later) != nil {
				return
			}
		}
	})
	if ctx.Err() != nil {
		return options.stoppedEarly(ctx)
	}
	failed := 0
	for i, err := range errs {
		if err != nil {
			failed++
			logger.Warn().Str("namespace", deleted.Items[i].Name).Err(err).Msg("dry run: cannot read all content of this namespace")
		}
	}
	if err := content.write(stdout, deleted.Items, inDeletion-len(deleted.Items), failed > 0); err != nil {
		return err
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d terminating namespaces could not be read completely, see the log", failed, len(deleted.Items))
	case len(deleted.Items) > 0:
		return program.Exit(exitWouldWrite)
	}
	return nil
}

var errLookStopped = errors.New("the dry run was stopped before it had seen everything")

// stoppedEarly returns the error of a run that a signal has stopped. For a look it is never nil,
// because exit code 0 means that nothing is being deleted.
func (o *runOptions) stoppedEarly(ctx context.Context) error {
	if err := program.Stopped(ctx); err != nil || !o.once {
		return err
	}
	return errLookStopped
}

// seenContent collects what a dry run finds.
type seenContent struct {
	mu    sync.Mutex
	types map[string]map[string]nsctl.Found // by namespace and kubectl's name of the type; guarded by mu
}

// wouldDelete is the hook of the dry run.
func (c *seenContent) wouldDelete(namespace string, resource api.GroupVersionResource, found nsctl.Found, _ error) {
	if found.Total() == 0 {
		return
	}
	slices.Sort(found.Names)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.types[namespace] == nil {
		c.types[namespace] = map[string]nsctl.Found{}
	}
	c.types[namespace][resource.TypeName()] = found
}

// namesShown is how many objects of one type in one namespace the summary names.
const namesShown = 20

// write writes the summary: a line for each type in each namespace, and one for all. passedOver is
// how many more namespaces are terminating and not selected. If some content was not read, the
// number of objects is a lower bound.
func (c *seenContent) write(out io.Writer, namespaces []*api.Namespace, passedOver int, incomplete bool) error {
	if len(namespaces) == 0 {
		sentence := "No namespace is being deleted."
		if passedOver > 0 {
			sentence = fmt.Sprintf("No selected namespace is being deleted; --namespaces excludes %d.", passedOver)
		}
		_, err := fmt.Fprintln(out, sentence)
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tTYPE\tDELETE\tBEHIND PODS\tHELD\tENDING\tNAMES")
	var all nsctl.Found
	slices.SortFunc(namespaces, func(a, b *api.Namespace) int { return cmp.Compare(a.Name, b.Name) })
	for _, namespace := range namespaces {
		types := c.types[namespace.Name]
		for _, t := range slices.Sorted(maps.Keys(types)) {
			found := types[t]
			all.ToDelete += found.ToDelete
			all.BehindPods += found.BehindPods
			all.Held += found.Held
			all.Ending += found.Ending
			names := words.OneLine(strings.Join(found.Names[:min(found.Total(), namesShown)], ", "))
			if more := found.Total() - namesShown; more > 0 {
				names += fmt.Sprintf(" and %d more", more)
			}
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n",
				namespace.Name, words.OneLine(t), found.ToDelete, found.BehindPods, found.Held, found.Ending, names)
		}
		if len(types) == 0 {
			fmt.Fprintf(table, "%s\t-\t0\t0\t0\t0\t\n", namespace.Name)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	bound := ""
	if incomplete {
		bound = "at least "
	}
	summary := fmt.Sprintf("Terminating namespaces: %d. A run would delete %s%s",
		len(namespaces), bound, words.Count(all.ToDelete, "object"))
	for _, part := range []struct {
		n    int
		what string
	}{{all.BehindPods, "behind pods"}, {all.Held, "held by finalizers"}, {all.Ending, "ending"}} {
		if part.n > 0 {
			summary += fmt.Sprintf("; %s: %d", part.what, part.n)
		}
	}
	summary += "; nothing was written."
	if passedOver > 0 {
		summary += fmt.Sprintf(" --namespaces excludes %d more.", passedOver)
	}
	_, err := fmt.Fprintln(out, "\n"+summary)
	return err
}
