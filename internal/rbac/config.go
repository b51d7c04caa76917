package rbac

// Config is as much of a run as decides what rights it needs, and who is to have them. The zero value is a run without Events and
// leader election.
type Config struct {
	// Name is that of the roles and bindings.
	Name string
	// Subject gets the rights.
	Subject Subject

	// DryRun leaves out what writes: a run with --dry-run needs less.
	DryRun bool
	// LeaderElection is on unless --leader-elect=false. LeaseNamespace and LeaseName say where its Lease is.
	LeaderElection            bool
	LeaseNamespace, LeaseName string
	// Events is on unless --events=false.
	Events bool
}
