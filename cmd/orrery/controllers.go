package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orrery/cmd/orrery/controllers"
	"orrery/controller/manager"
	"orrery/nsctl"
)

// everyController is the default of --controllers.
var everyController = []string{"*"}

// controllersUsage is the help of --controllers.
func controllersUsage(what string) string {
	var on, onDemand []string
	for _, d := range controllers.Descriptors(controllers.Options{}) {
		name := d.Name
		if d.Alias != "" {
			name += " (" + d.Alias + ")"
		}
		if d.OnDemand {
			onDemand = append(onDemand, name)
		} else {
			on = append(on, name)
		}
	}
	usage := what + ": * for all that are on by default, `name` for one, -name to exclude one; on by default: " +
		strings.Join(on, ", ")
	if len(onDemand) > 0 {
		usage += "; only by name: " + strings.Join(onDemand, ", ")
	}
	return usage
}

// choose selects the controllers of --controllers.
func (o *runOptions) choose() (err error) {
	options := o.each
	if options.GracePeriod == 0 || o.dryRun {
		// The flag's 0 means none, the configuration's 0 means the default. A dry run does not wait
		// for the grace period: the built-in controller may delete an ordinary namespace sooner.
		options.GracePeriod = -1
	}
	o.chosen, err = manager.Choose(controllers.Descriptors(options), o.controllers)
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	for _, d := range o.chosen {
		if o.dryRun && !d.DryRun {
			return fmt.Errorf("--dry-run: %s does not support it", d.Name)
		}
		if !options.Selection.All() && d.Name != controllers.NamespaceController {
			return fmt.Errorf("--namespaces: %s works in all namespaces; leave it out of --controllers", d.Name)
		}
	}
	return nil
}

// selectNamespaces parses --namespaces. An empty value, such as that of an unset variable in a
// script, does not select all.
func (o *runOptions) selectNamespaces() (err error) {
	if o.namespaces != nil && len(o.namespaces) == 0 {
		return errors.New(`--namespaces: give at least one pattern; "*" selects all namespaces`)
	}
	o.each.Selection, err = nsctl.ParseSelection(o.namespaces)
	if err != nil {
		return fmt.Errorf("--namespaces: %w", err)
	}
	return nil
}

// chose reports whether a controller is selected.
func (o *runOptions) chose(name string) bool {
	return slices.ContainsFunc(o.chosen, func(d manager.Descriptor) bool { return d.Name == name })
}
