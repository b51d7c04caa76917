package rbac

// Config is as much of a run as decides what rights it needs, and who is to have them. The zero value is a run without controllers, Events and
// leader election.
type Config struct {
	// Name is that of the roles and bindings.
	Name string
	// Subject gets the rights.
	Subject Subject

	// Controllers are the rights that the chosen controllers ask for, see [NamespaceController] for those of one of them.
	Controllers []Right

	// DryRun leaves out election and Events: a run with --dry-run writes nothing.
	DryRun bool
	// LeaderElection is on unless --leader-elect=false. LeaseNamespace and LeaseName say where its Lease is.
	LeaderElection            bool
	LeaseNamespace, LeaseName string
	// Events is on unless --events=false. EventsEverywhere: not only about namespaces, and so in all namespaces.
	Events, EventsEverywhere bool
}
