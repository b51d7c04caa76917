package main

import (
	"context"

	"github.com/spf13/pflag"

	"orrery/internal/logs"
	"orrery/restclient"
)

// secondOptions are the flags that say whether another namespace controller may be at work.
type secondOptions struct{}

func (o *secondOptions) addTo(*pflag.FlagSet) {}

func (o *secondOptions) check() error { return nil }

// refuseSecond returns an error that says how it knows if the cluster has a namespace controller that works already.
func refuseSecond(context.Context, *restclient.Client, secondOptions, *logs.Logger) error { return nil }
