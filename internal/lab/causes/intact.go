package causes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

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
	if policy, found := w.readPolicy(); found && slices.Contains(f.IDs(), "C07") && !policy.refuses() {
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

// policy is the configuration of the fixtures' webhook, as far as a repair may change it.
type policy struct {
	Webhooks []struct {
		FailurePolicy string            `json:"failurePolicy"`
		Rules         []json.RawMessage `json:"rules"`
		Selector      struct {
			Expressions []struct {
				Operator string   `json:"operator"`
				Values   []string `json:"values"`
			} `json:"matchExpressions"`
		} `json:"namespaceSelector"`
	} `json:"webhooks"`
}

// readPolicy returns the configuration; ok is false if it is gone.
func (w *World) readPolicy() (configuration policy, ok bool) {
	answer, found := w.find(webhookConfigurations + "/policy")
	return configuration, found && json.Unmarshal(answer, &configuration) == nil
}

// refuses reports whether the webhook still refuses anything in other namespaces.
func (p policy) refuses() bool {
	return len(p.Webhooks) > 0 && len(p.Webhooks[0].Rules) > 0 && p.Webhooks[0].FailurePolicy == "Fail"
}

// Excluded reports whether the repair excluded the namespace from a webhook, and the exclusion
// remains.
func (w *World) Excluded() bool {
	configuration, _ := w.readPolicy()
	for _, hook := range configuration.Webhooks {
		for _, e := range hook.Selector.Expressions {
			if e.Operator == "NotIn" && slices.Contains(e.Values, Namespace) {
				return true
			}
		}
	}
	return false
}
