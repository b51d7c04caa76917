package controller

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"orrery/controller/rbac"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// Main runs a program with controllers: it connects to the cluster that kubectl would choose, calls
// setUp, and works until SIGINT or SIGTERM; a second signal ends it at once. It adds -kubeconfig,
// -context, -gears, -leader-elect and -service-account to the flags of package flag, and parses
// them. It refuses other arguments. If something fails, Main prints it and exits with 1.
//
// With the argument rbac it prints the rights that the program needs, for kubectl apply -f -: to
// list and watch each collection, to the Lease of -leader-elect, and those of [Manager.Allow]. It
// calls setUp for that, with a client of no server, and ends.
func Main(setUp func(*Manager) error) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if err := run(name, setUp); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func run(name string, setUp func(*Manager) error) error {
	path := flag.String("kubeconfig", "", "the kubeconfig `file`; default: as kubectl finds it")
	chosen := flag.String("context", "", "the `name` of the context; default: the current one")
	var config Config
	flag.Var(&config.Gears, "gears", "the `forms` of the gears: fast, textbook, or single ones such as queue=textbook")
	flag.Var(&config.Election, "leader-elect",
		"the Lease, as `namespace/name`, that one of several replicas holds while it works; default: all work")
	account := flag.String("service-account", "default/"+name,
		"for the argument rbac, which prints the rights of the program: "+
			"the `namespace/name` of the account that gets them; its name is that of the roles")
	flag.Parse()
	printing := flag.Arg(0) == "rbac"
	if printing { // flags may follow
		if err := flag.CommandLine.Parse(flag.Args()[1:]); err != nil {
			return err
		}
	}
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is neither a flag nor the argument rbac, and what follows would not be read", flag.Arg(0))
	}
	if printing {
		return printRights(name, *account, config, setUp)
	}
	server, _, err := kubeconfig.Load(kubeconfig.Options{Path: *path, Context: *chosen})
	if err != nil {
		return err
	}
	server.UserAgent = name
	config.Client, err = restclient.New(server)
	if err != nil {
		return err
	}
	defer config.Client.Close()
	m := NewManager(config)
	if err := setUp(m); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal ends the process
	return m.Run(ctx)
}

// printRights prints the rights of a program, and the account that gets them.
func printRights(program, account string, config Config, setUp func(*Manager) error) (err error) {
	config.Client, err = restclient.New(restclient.Config{Host: "http://no.server.invalid"})
	if err != nil {
		return err
	}
	defer config.Client.Close()
	m := NewManager(config)
	if err := setUp(m); err != nil {
		return err
	}
	subject, err := rbac.ParseServiceAccount(account)
	if err != nil {
		return fmt.Errorf("-service-account %w", err)
	}
	rights := rbac.Config{
		Program: program, Name: subject.Name, Subject: subject, Controllers: m.rights,
		LeaderElection: config.Election.Name != "",
		LeaseNamespace: config.Election.Namespace, LeaseName: config.Election.Name,
	}
	return rbac.WriteYAML(os.Stdout, append([]rbac.Manifest{rbac.Account(rights)}, rbac.Manifests(rights)...))
}

// Allow declares a right of the program besides those to list and watch its collections, which
// [Watch] declares: to a resource in all namespaces, or to a subresource of it unless that is "".
// why is a sentence.
func (m *Manager) Allow(resource api.GroupVersionResource, subresource, why string, verbs ...string) {
	m.rights = append(m.rights, rbac.RightTo(resource, subresource, why, verbs...))
}
