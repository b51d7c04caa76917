package causes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"orrery/internal/why"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// Intact says what is wrong after a repair, a sentence each: the namespace is still there, objects
// of it are stranded or may be, something outside the API is still broken or left behind, or an
// innocent object is gone. No sentence: it was solved.
func (f Fixture) Intact(w *World) (problems []string) {
	report := func(format string, arguments ...any) { problems = append(problems, fmt.Sprintf(format, arguments...)) }
	if _, found := w.find(inNamespace); found {
		report("the namespace %s is still there", Namespace)
	} else {
		problems = append(problems, w.stranded()...)
	}
	var room api.List[*api.PartialObjectMetadata]
	w.read(machineRoom, &room)
	for _, left := range room.Items {
		report("%s/%s: outside the API this is still broken or left behind", MachineRoom, left.Name)
	}
	for _, path := range f.Keep {
		if _, found := w.find(path); !found {
			report("%s was deleted, and others need it", path)
		}
	}
	// A policy that is gone is reported already.
	if hooks, found := w.hooks(); found && slices.Contains(f.IDs(), "C07") &&
		(len(hooks) == 0 || len(hooks[0].Rules) == 0 || hooks[0].FailurePolicy != "Fail") {
		report("the webhook policy no longer refuses anything in other namespaces either")
	}
	return problems
}

// stranded returns which objects of the namespace are still in the storage, and what could not be
// read.
func (w *World) stranded() (problems []string) {
	if w.err != nil {
		return nil
	}
	var mu sync.Mutex
	looked := nsctl.Look(w.ctx, discovery.NewCached(discovery.New(w.client)), time.Now(),
		func(ctx context.Context, resource nsctl.DeletableResource) error {
			objects, err := restclient.Metadata(w.client, resource.GVR, Namespace).List(ctx, api.ListOptions{})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, object := range objects.Items {
				problems = append(problems,
					fmt.Sprintf("%s/%s is stranded: its namespace is gone, and it is still in the storage",
						resource.GVR.Resource, object.Name))
			}
			return nil
		})
	for _, err := range append(looked.Errs, looked.DiscoveryErr, looked.ParseErr) {
		if err != nil {
			problems = append(problems, fmt.Sprintf("what could not be read may be stranded: %v", err))
		}
	}
	slices.Sort(problems)
	return problems
}

// hooks returns the webhooks of the fixtures' configuration, as far as a repair may change them;
// found is false if it is gone.
func (w *World) hooks() (all []why.Webhook, found bool) {
	answer, found := w.find(webhookConfigurations + "/policy")
	var configuration struct {
		Webhooks []why.Webhook `json:"webhooks"`
	}
	found = found && json.Unmarshal(answer, &configuration) == nil
	return configuration.Webhooks, found
}

// Excluded reports whether the repair excluded the namespace from a webhook, and the exclusion
// remains.
func (w *World) Excluded() bool {
	hooks, _ := w.hooks()
	return slices.ContainsFunc(hooks, func(hook why.Webhook) bool {
		return slices.ContainsFunc(hook.NamespaceOnly.Expressions, func(e why.Expression) bool {
			return e.Operator == "NotIn" && slices.Contains(e.Values, Namespace)
		})
	})
}
