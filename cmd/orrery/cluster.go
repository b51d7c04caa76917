package main

import (
	"errors"
	"io"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// clusterOptions are the flags that choose the cluster and the user, as kubectl's do.
type clusterOptions struct {
	kubeconfig string
	context    string
	as         string
	asGroups   []string
}

func (o *clusterOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig `file` to use; default: the files in "+
		"$KUBECONFIG, else ~/.kube/config, else the service account of the pod")
	flags.StringVar(&o.context, "context", "",
		"the `name` of the context to use; default: the current-context of the kubeconfig")
	flags.StringVar(&o.as, "as", "", "the `user` to make every request as; needs the right to impersonate")
	flags.StringArrayVar(&o.asGroups, "as-group", nil, "a `group` of that user; may be repeated")
}

func (o *clusterOptions) check() error {
	if len(o.asGroups) > 0 && o.as == "" {
		return errors.New("--as-group needs --as")
	}
	return nil
}

// of returns where the kubeconfig is, and which part of it is meant.
func (o *clusterOptions) of() kubeconfig.Options {
	return kubeconfig.Options{Path: o.kubeconfig, Context: o.context, As: o.as, AsGroups: o.asGroups}
}

// readingClient returns a client of a command that only reads, and a function that closes it. What
// is said of the connection, such as how long an answer is awaited, goes to stderr.
func readingClient(
	config restclient.Config, command string, stderr io.Writer,
) (client *restclient.Client, end func(), err error) {
	logger := logs.Start(logs.Config{Writer: program.Underlying(stderr), Color: program.WantsColor(stderr)})
	config.UserAgent = "orrery/" + program.Version + " " + command
	config.Credentials = hideFrom(logger, config.Credentials)
	config.Trace = logger.Requests()
	client, err = restclient.New(config)
	if err != nil {
		logger.Stop()
		return nil, nil, err
	}
	return client, func() {
		client.Close()
		logger.Stop()
	}, nil
}
