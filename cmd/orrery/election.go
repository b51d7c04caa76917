package main

import (
	"context"

	"github.com/spf13/pflag"

	"orrery/internal/logs"
	"orrery/restclient"
)

// electionOptions are the flags that say whether and how replicas agree on which of them works. Names, meanings and
// defaults are kube-controller-manager's.
type electionOptions struct{}

func (o *electionOptions) addTo(*pflag.FlagSet) {}

func (o *electionOptions) check() error { return nil }

// lead calls work when this process is the one that works, with a context that ends when it is not any more, and returns
// when work has returned.
func lead(ctx context.Context, _ *restclient.Client, _ electionOptions, _ *observer, _ *logs.Logger, work func(context.Context)) error {
	work(ctx)
	return nil
}
