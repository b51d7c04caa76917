// Program second-party is the second party of docs/learn/second-party.md: it holds namespaces until
// their files in a directory are deleted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"orrery/controller"
	"orrery/examples/secondparty"
	"orrery/nsctl"
	"orrery/restclient/api"
)

const name = "second-party"

// directory has no default: a replica with a directory of its own, which is empty, would release a
// namespace that another replica holds.
var directory = flag.String("storage", "", "the `directory` of the files; all replicas must share it")

func main() { controller.Main(setUp) }

func setUp(m *controller.Manager) error {
	namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "")
	m.Allow(api.NamespacesResource, "", "Read the tokens before one is taken off.", "get")
	m.Allow(api.NamespacesResource, "finalize", "Take the token off.", "update")
	m.Add(func() (func(stop, alive context.Context), error) { return build(m, namespaces) })
	return nil
}

// build returns the controller, which Manager.Run runs.
func build(m *controller.Manager, namespaces *controller.Collection[*api.Namespace]) (
	run func(stop, alive context.Context), err error,
) {
	if *directory == "" {
		return nil, errors.New("the second party needs a directory for its content: -storage")
	}
	storage, err := secondparty.OpenStorage(*directory)
	if err != nil {
		return nil, err
	}
	trace := &nsctl.Trace{Finalized: func(namespace string, err error) {
		if err == nil { // otherwise the pass fails
			fmt.Printf("%s: the token %s is taken off\n", namespace, secondparty.Token)
		}
	}}
	config := secondparty.DeleterConfig(namespaces.Server(""), storage)
	config.Trace = trace
	c, err := nsctl.NewController(nsctl.Config{
		Informer: namespaces.Informer(), Deleter: nsctl.NewDeleter(config), Trace: trace, Pool: m.PoolConfig(name),
	})
	if err != nil {
		return nil, err
	}
	return c.RunWithin, nil
}
