package manager

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/controller/rbac"
	"orrery/restclient/api"
)

// Controller is one controller, set up and standing by: its handlers receive events, and its
// workers have not started. It may have these methods as well:
//
//   - Healthy() error is its check of /healthz. It fails if a restart of the process would help.
//   - UpdateMetrics() is called before metrics are read.
type Controller interface {
	// RunWithin works until stop ends; then it finishes its work in progress. When alive ends it
	// returns immediately and sends nothing more. It is called once.
	RunWithin(stop, alive context.Context)
}

// Initializer sets up one controller. It must not start anything: informers start after every
// controller has registered its handlers.
type Initializer func(ControllerContext) (Controller, error)

// Descriptor describes a controller before it is set up.
type Descriptor struct {
	// Name is the name in kube-controller-manager if it has the controller, such as
	// "namespace-controller". Alias is a short form, or "".
	Name, Alias string
	// About is a short description for a list.
	About string
	// OnDemand: the controller is selected only by name, not by "*".
	OnDemand bool
	// DryRun: the controller supports Shared.DryRun.
	DryRun bool
	// BuiltIn: kube-controller-manager has a controller of this name, and the two would conflict.
	BuiltIn bool
	// Needs are the required resources. Without one of them the controller is not set up.
	Needs []api.GroupVersionResource
	// Rights are the controller's rights, without Events. EventsEverywhere: it records Events in
	// the namespaces of its objects, and not only in "default".
	Rights           func(dryRun bool) []rbac.Right
	EventsEverywhere bool
	// QPSFactor and BurstFactor multiply Shared.QPS and Shared.Burst. 0 means 1.
	QPSFactor, BurstFactor int
	// New sets the controller up.
	New Initializer
}

// Choose returns the controllers that a list in the form of kube-controller-manager's --controllers
// selects: "*" all that are not OnDemand, "name" one, "-name" all but one. A name takes precedence
// over "*", and "name" over "-name". An unknown name is an error.
func Choose(all []Descriptor, entries []string) (chosen []Descriptor, err error) {
	names := map[string]string{} // name and alias to name
	var known []string
	for _, d := range all {
		known = append(known, d.Name)
		names[d.Name], names[cmp.Or(d.Alias, d.Name)] = d.Name, d.Name
	}
	var selected, left []string
	star := false
	for _, entry := range entries {
		if entry == "*" {
			star = true
			continue
		}
		short, out := strings.CutPrefix(entry, "-")
		name, ok := names[short]
		switch {
		case !ok:
			return nil, fmt.Errorf("there is no controller %q; use * or one of: %s (with - in front to leave it out)",
				short, strings.Join(known, ", "))
		case out:
			left = append(left, name)
		default:
			selected = append(selected, name)
		}
	}
	for _, d := range all {
		byStar := star && !d.OnDemand && !slices.Contains(left, d.Name)
		if slices.Contains(selected, d.Name) || byStar {
			chosen = append(chosen, d)
		}
	}
	return chosen, nil
}
