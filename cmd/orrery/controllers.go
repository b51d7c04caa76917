package main

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/controllers"
	"orrery/internal/controllers/all"
)

// everyController is the default of --controllers.
var everyController = []string{"*"}

// controllersUsage is the help of --controllers.
func controllersUsage(what string) string {
	var on, onDemand []string
	for _, d := range all.Descriptors(all.Options{}) {
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
	usage := what + ": * for all that are on by default, `name` for one, -name to exclude one; on by default: " + strings.Join(on, ", ")
	if len(onDemand) > 0 {
		usage += "; only by name: " + strings.Join(onDemand, ", ")
	}
	return usage
}

// controllerCompletions are values for the completion of --controllers.
func controllerCompletions() []string {
	values := []string{"*\tall that are on by default"}
	for _, d := range all.Descriptors(all.Options{}) {
		values = append(values, d.Name+"\t"+d.About)
		if !d.OnDemand {
			values = append(values, "-"+d.Name+"\twithout it")
		}
	}
	return values
}

// choose finds the controllers that --controllers names.
func (o *runOptions) choose() (err error) {
	options := o.each
	if options.Namespace.GracePeriod == 0 {
		options.Namespace.GracePeriod = -1 // the flag's 0 means none, the configuration's 0 means the default
	}
	o.chosen, err = controllers.Choose(all.Descriptors(options), o.controllers)
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	for _, d := range o.chosen {
		if o.dryRun && !d.DryRun {
			return fmt.Errorf("--dry-run: %s cannot be run dry", d.Name)
		}
	}
	return nil
}

// chose reports whether a controller is to run.
func (o *runOptions) chose(name string) bool {
	return slices.ContainsFunc(o.chosen, func(d controllers.Descriptor) bool { return d.Name == name })
}
