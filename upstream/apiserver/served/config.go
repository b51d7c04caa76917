package served

import (
	"io"
	"path/filepath"

	"orrery/upstream/controlplane"
)

// NamespaceControllers are the controllers that fill every namespace as the genuine control plane
// does: with a default service account and the CA bundle.
func NamespaceControllers() []string {
	return []string{"serviceaccount-controller", "root-ca-certificate-publisher-controller"}
}

// Config configures a server. The zero value is "lab serve" alone.
type Config struct {
	// Binary is the program lab. Default: bin/lab in the working directory or the nearest directory
	// above it.
	Binary string
	// Args are further arguments of "lab serve".
	Args []string
	// Controllers are the controllers that kube-controller-manager runs on the server, as the
	// administrator. Default: it does not run.
	Controllers []string
	// ControlPlane is the program with kube-controller-manager. Default: bin/controlplane, found as
	// Binary is.
	ControlPlane string
	// Log receives a line for each process that dies. Default: nowhere.
	Log io.Writer
}

func (c Config) complete() (Config, error) {
	if c.Log == nil {
		c.Log = io.Discard
	}
	var err error
	if c.Binary == "" {
		if c.Binary, err = controlplane.FindUp(filepath.Join("bin", "lab")); err != nil {
			return c, err
		}
	}
	if c.ControlPlane == "" && len(c.Controllers) > 0 {
		c.ControlPlane, err = controlplane.FindUp(filepath.Join("bin", "controlplane"))
	}
	return c, err
}
