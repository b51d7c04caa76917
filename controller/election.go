package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orrery/controller/leaderelection"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Election lets one of several replicas of a program work, the one that holds a Lease; see package
// leaderelection. The others stand by, with their copies of the collections up to date.
type Election struct {
	// Namespace and Name are the Lease's. Both are required. The user must have the right to get,
	// create, update and watch Leases in that namespace.
	Namespace, Name string
	// Identity distinguishes this replica from all others. Default:
	// [leaderelection.NewIdentity].
	Identity string
}

// Set reads the Lease as namespace/name, for a flag.
func (e *Election) Set(text string) error {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return errors.New("a Lease is named as namespace/name")
	}
	e.Namespace, e.Name = namespace, name
	return nil
}

// String returns the Lease as namespace/name, "" for none.
func (e *Election) String() string {
	if e.Name == "" {
		return ""
	}
	return e.Namespace + "/" + e.Name
}

// election returns hooks that write who leads, and failed attempts.
func (f *failures) election(lease string) *leaderelection.Trace {
	what := "leader election, " + lease
	return &leaderelection.Trace{
		Acquired:  func(term leaderelection.Term) { f.report(what, "this replica leads, as "+term.Identity) },
		NewLeader: func(identity string, _ time.Duration) { f.report(what, "standing by, "+identity+" leads") },
		Failed:    func(err error, _ bool) { f.report(what, err) },
	}
}

// lead calls work while this replica holds the Lease, or at once if there is no election. The
// context of work ends when this replica must not write any more. lead returns when ctx is done and
// work has returned, or with a [*leaderelection.LostError] or [*leaderelection.AccessError].
func (m *Manager) lead(ctx context.Context, work func(alive context.Context)) error {
	switch {
	case m.config.Lead != nil:
		return m.config.Lead(ctx, work)
	case m.config.Election.Name == "":
		work(context.WithoutCancel(ctx))
		return nil
	}
	election := m.config.Election
	client, err := leaderelection.NewClient(m.config.Client.Config(), 0)
	if err != nil {
		return err
	}
	defer client.Close()
	elector, err := leaderelection.New(leaderelection.Config{
		Leases:    restclient.Typed[*api.Lease](client, api.LeasesResource, election.Namespace),
		Namespace: election.Namespace,
		Name:      election.Name,
		Identity:  cmp.Or(election.Identity, leaderelection.NewIdentity()),
		Trace:     m.failures.election(election.String()),
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	return elector.Run(ctx, work)
}
