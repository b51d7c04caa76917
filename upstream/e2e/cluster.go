package e2e

import (
	"context"
	"errors"
	"fmt"

	"orrery/upstream/controlplane"
)

// Cluster is a server with one namespace controller, the subject, running beside it.
type Cluster struct {
	// Server is the cluster without the subject. Cluster.Stop stops it.
	Server

	subject    Subject
	kubeconfig string // the subject's
	controller *controlplane.Process
}

// StartCluster starts a server without a namespace controller, and then the subject with further
// arguments. The context bounds the start only. The caller must call [Cluster.Stop].
func StartCluster(ctx context.Context, platform Platform, subject Subject, config controlplane.Config, args ...string) (*Cluster, error) {
	server, err := platform.Start(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	c := &Cluster{Server: server, subject: subject}
	if c.kubeconfig, err = server.KubeconfigFor(ControllerIdentity); err == nil {
		err = c.StartController(args...)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), server.Stop())
	}
	return c, nil
}

// StartController starts the subject, after [Cluster.StopController] or [Cluster.KillController].
func (c *Cluster) StartController(args ...string) error {
	controller, err := c.subject.start(c.kubeconfig, c.LogFile(c.subject.Name), args...)
	if err != nil {
		return err
	}
	c.controller = controller
	return nil
}

// StopController stops the subject and waits; see [controlplane.Process.Stop].
func (c *Cluster) StopController(ctx context.Context) { c.controller.Stop(ctx) }

// KillController kills the subject, as a crash would.
func (c *Cluster) KillController() { c.controller.Kill() }

// Controller returns the subject's process, the last one started.
func (c *Cluster) Controller() *controlplane.Process { return c.controller }

// Stop stops the subject and then the server. It returns an error if either had already ended.
func (c *Cluster) Stop() error {
	c.StopController(context.Background())
	return errors.Join(c.controller.Err(), c.Server.Stop())
}
