package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// document is a manifest.
type document map[string]any

func (d document) name() (namespace, name string) {
	metadata := d["metadata"].(document)
	namespace, _ = metadata["namespace"].(string)
	return namespace, metadata["name"].(string)
}

// kustomized returns the documents of a directory, and the kustomization that names their files.
func kustomized(t *testing.T, dir string) (kustomization document, documents []document) {
	t.Helper()
	read := func(file string) (found []document) {
		text, err := os.ReadFile(filepath.Join("..", "..", dir, file))
		require.NoError(t, err)
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var d document
			err := decoder.Decode(&d)
			if errors.Is(err, io.EOF) {
				return found
			}
			require.NoError(t, err, file)
			found = append(found, d)
		}
	}
	kustomization = read("kustomization.yaml")[0]
	for _, file := range kustomization["resources"].([]any) {
		documents = append(documents, read(file.(string))...)
	}
	return kustomization, documents
}

// The image has a program for Linux only, and a cluster may have Windows nodes as well.
func TestPodsRunOnLinuxNodes(t *testing.T) {
	_, documents := kustomized(t, "deploy")
	deployments := 0
	for _, d := range documents {
		if d["kind"] != "Deployment" {
			continue
		}
		deployments++
		pod := d["spec"].(document)["template"].(document)["spec"].(document)
		assert.Equal(t, document{"kubernetes.io/os": "linux"}, pod["nodeSelector"],
			"the pods may go to nodes where the image does not run")
	}
	assert.Equal(t, 1, deployments)
	examples, err := os.ReadFile(filepath.Join("..", "..", "examples", "deploy", "kustomization.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(examples), "- ../../deploy\n", "examples/deploy runs the same Deployment")
	assert.NotContains(t, string(examples), "nodeSelector")
}

// deploy/monitoring, which needs the Prometheus operator, matches deploy: the labels of the pods,
// the port, the namespaces.
func TestMonitoringFitsTheDeployment(t *testing.T) {
	at := func(value any, path ...any) any {
		for _, step := range path {
			if key, ok := step.(string); ok {
				value = value.(document)[key]
			} else {
				value = value.([]any)[step.(int)]
			}
		}
		return value
	}
	_, deployed := kustomized(t, "deploy")
	kustomization, monitoring := kustomized(t, "deploy/monitoring")
	byKind := map[string]document{}
	for _, d := range append(deployed, monitoring...) {
		byKind[d["kind"].(string)] = d
	}
	deployment, policy, monitor := byKind["Deployment"], byKind["NetworkPolicy"], byKind["PodMonitor"]
	labels := at(deployment, "spec", "template", "metadata", "labels")
	port := at(deployment, "spec", "template", "spec", "containers", 0, "ports", 0)
	namespace, _ := deployment.name()

	assert.Equal(t, labels, at(policy, "spec", "podSelector", "matchLabels"))
	assert.Equal(t, at(port, "containerPort"), at(policy, "spec", "ingress", 0, "ports", 0, "port"))
	assert.Equal(t, kustomization["namespace"],
		at(policy, "spec", "ingress", 0, "from", 0, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"))

	assert.Equal(t, labels, at(monitor, "spec", "selector", "matchLabels"))
	assert.Equal(t, []any{namespace}, at(monitor, "spec", "namespaceSelector", "matchNames"))
	assert.Equal(t, at(port, "name"), at(monitor, "spec", "podMetricsEndpoints", 0, "port"))
}

// krew links the plugin's name to the file of the archive that "make krew" builds.
func TestKrewInstallsTheNameThatTheProgramAnswersTo(t *testing.T) {
	text, err := os.ReadFile("../../deploy/krew/why-terminating.yaml")
	require.NoError(t, err)
	var manifest struct {
		Metadata struct{ Name string }
		Spec     struct {
			Platforms []struct {
				Selector struct {
					MatchLabels struct{ OS, Arch string } `yaml:"matchLabels"`
				}
				URI, SHA256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &manifest))
	assert.Equal(t, pluginName, "kubectl-"+strings.ReplaceAll(manifest.Metadata.Name, "-", "_"))
	var platforms []string
	for _, p := range manifest.Spec.Platforms {
		platform := p.Selector.MatchLabels.OS + "-" + p.Selector.MatchLabels.Arch
		platforms = append(platforms, platform)
		assert.Equal(t, manifest.Metadata.Name+"-"+platform+".tar.gz", path.Base(p.URI))
		assert.Regexp(t, "^[0-9a-f]{64}$", p.SHA256)
		assert.Equal(t, []struct{ From, To string }{{p.Bin, "."}}, p.Files)
		assert.True(t, isPlugin(p.Bin), p.Bin)
	}
	assert.Equal(t, []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"}, platforms)
}
