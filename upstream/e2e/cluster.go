package e2e

import (
	"context"
	"errors"
	"fmt"

	"orrery/upstream/controlplane"
)

// Cluster is a genuine control plane with one namespace controller, the subject, running beside it.
type Cluster struct {
	// ControlPlane is the cluster without the subject. Cluster.Stop stops it.
	*controlplane.ControlPlane

	subject    Subject
	kubeconfig string // the subject's
	controller *controlplane.Process
}

// StartCluster starts a control plane without a namespace controller, and then the subject with
// further arguments. The context bounds the start only. The caller must call [Cluster.Stop].
func StartCluster(
	ctx context.Context, subject Subject, config controlplane.Config, args ...string,
) (*Cluster, error) {
	if config.NamespaceController {
		return nil, errors.New("start cluster: the subject would not be the only namespace controller")
	}
	cp, err := controlplane.Start(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	c := &Cluster{ControlPlane: cp, subject: subject}
	if c.kubeconfig, err = cp.KubeconfigFor(ControllerIdentity); err == nil {
		err = c.StartController(args...)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), cp.Stop())
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

// Stop stops the subject and then the control plane. It returns an error if either had already
// ended.
func (c *Cluster) Stop() error {
	c.StopController(context.Background())
	return errors.Join(c.controller.Err(), c.ControlPlane.Stop())
}
