package servecmd

import (
	"fmt"
	"os"
	"path/filepath"

	"orrery/internal/lab/apiserver"
	"orrery/restclient/kubeconfig"
)

// PlaceKubeconfig writes the kubeconfig to the path, or to a new directory if there is none. It
// overwrites no file but an empty one and that of another server of this kind, unless force is set:
// the path may be ~/.kube/config. remove removes what was written, unless another server has
// written there since.
func PlaceKubeconfig(server *apiserver.Server, path string, force bool) (written string, remove func(), err error) {
	if path == "" {
		directory, err := os.MkdirTemp("", "orrery-")
		if err != nil {
			return "", nil, fmt.Errorf("the kubeconfig cannot be written: %w; choose a place with --kubeconfig-out", err)
		}
		path, remove = filepath.Join(directory, "kubeconfig"), func() { os.RemoveAll(directory) }
	} else if !force && !mayOverwrite(path) {
		return "", nil, fmt.Errorf("%s exists and is not a kubeconfig of \"lab serve\"; choose another place with --kubeconfig-out, or overwrite it with --force", path)
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if remove == nil {
		remove = func() {
			if config, ok := ownKubeconfig(path); ok && config.Clusters[config.CurrentContext].Server == server.URL() {
				os.Remove(path)
			}
		}
	}
	if err := server.WriteKubeconfig(path); err != nil {
		remove()
		return "", nil, fmt.Errorf("the kubeconfig cannot be written: %w; choose another place with --kubeconfig-out", err)
	}
	return path, remove, nil
}

// mayOverwrite reports whether nothing is lost if a file is overwritten.
func mayOverwrite(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true // there is none, or writing says what is wrong
	}
	_, own := ownKubeconfig(path)
	return own || info.Mode().IsRegular() && info.Size() == 0
}

// ownKubeconfig reads a kubeconfig; ok reports whether there is nothing in it but what a server has
// written.
func ownKubeconfig(path string) (config *kubeconfig.Config, ok bool) {
	config, err := kubeconfig.ReadFile(path)
	if err != nil || len(config.Clusters) != 1 || len(config.Users) != 1 || len(config.Contexts) != 1 {
		return nil, false
	}
	cluster := config.Clusters[config.CurrentContext]
	return config, cluster != nil && apiserver.Wrote(cluster)
}
