package e2e

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	"orrery/upstream/controlplane"
)

// RunOfficialSpecs runs Kubernetes' own specs for namespaces, unmodified, against a cluster (see command conformance)
// and writes their report to out. It returns nil only when all of them have run and passed. The cluster needs a node.
// Further arguments go to the command; --of=workloads chooses the specs for ReplicaSets and Deployments, --of=garbage those for
// the garbage collector.
func RunOfficialSpecs(ctx context.Context, kubeconfig string, out io.Writer, args ...string) error {
	path, err := controlplane.FindUp(filepath.Join("bin", "conformance"))
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, path, append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	command.Stdout = out
	command.Stderr = out
	if err := command.Run(); err != nil {
		return fmt.Errorf("official specs: %w", err)
	}
	return nil
}
