package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/internal/rbac"
	"orrery/restclient/api"
)

// Controller is one controller, set up and standing by: its handlers hear events, and nobody works yet. If it has a method
// Healthy() error, that is its check of /healthz; if it has UpdateMetrics(), that is called before metrics are read.
type Controller interface {
	// RunWithin works until stop ends; then it finishes what it has in hand. When alive ends it returns at once, and sends
	// nothing more. It is called once.
	RunWithin(stop, alive context.Context)
}

// Initializer sets up one controller. It must not start anything: informers are started when every controller has registered
// its handlers.
type Initializer func(ControllerContext) (Controller, error)

// Descriptor is all that there is to know of a controller before it is set up.
type Descriptor struct {
	// Name is kube-controller-manager's for its controllers, such as "namespace-controller". Alias is a short form, or "".
	Name, Alias string
	// About is what it does, in a few words for a list.
	About string
	// OnDemand: "*" does not select it, only its name does.
	OnDemand bool
	// DryRun: it heeds Shared.DryRun. The others cannot be run dry.
	DryRun bool
	// BuiltIn: kube-controller-manager has a controller of this name, and two of them would work against each other.
	BuiltIn bool
	// Needs are the resources without which it has nothing to do. It is set up when the server has all of them.
	Needs []api.GroupVersionResource
	// Rights are what it asks of the API server, Events left out. EventsEverywhere: it records Events in the namespaces of its
	// objects, and not only in "default".
	Rights           func(dryRun bool) []rbac.Right
	EventsEverywhere bool
	// QPSFactor and BurstFactor are its share of Shared.QPS and Shared.Burst. 0 is 1.
	QPSFactor, BurstFactor int
	// New sets it up.
	New Initializer
}

// UnknownNameError says that a selection names a controller that does not exist.
type UnknownNameError struct {
	Name  string
	Known []string
}

func (e *UnknownNameError) Error() string {
	return fmt.Sprintf("there is no controller %q; use * or one of: %s (with - in front to leave it out)",
		e.Name, strings.Join(e.Known, ", "))
}

// DuplicateNameError says that two controllers have the same name or alias. Their health, metrics and log lines could not be
// told apart.
type DuplicateNameError struct{ Name string }

func (e *DuplicateNameError) Error() string {
	return fmt.Sprintf("there are two controllers with the name %q", e.Name)
}

// Choose returns the controllers that a list in the manner of kube-controller-manager's --controllers selects: "*" all that
// are not OnDemand, "name" one, "-name" all but one. What is named wins over "*", and "name" over "-name". The error is an
// [*UnknownNameError] or a [*DuplicateNameError].
func Choose(all []Descriptor, entries []string) (chosen []Descriptor, err error) {
	names := map[string]string{} // name and alias to name
	var known []string
	for _, d := range all {
		known = append(known, d.Name)
		for _, name := range []string{d.Name, d.Alias} {
			if name == "" {
				continue
			}
			if _, taken := names[name]; taken {
				return nil, &DuplicateNameError{Name: name}
			}
			names[name] = d.Name
		}
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
			return nil, &UnknownNameError{Name: short, Known: known}
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
