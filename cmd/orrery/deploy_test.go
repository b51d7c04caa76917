package main

import (
	"bytes"
	"errors"
	"fmt"
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

// document is a manifest, or a part of one.
type document map[string]any

// at returns what is at a path of keys and numbers.
func (d document) at(path ...any) any {
	var value any = d
	for _, step := range path {
		if number, ok := step.(int); ok {
			value = value.([]any)[number]
		} else {
			value = value.(document)[step.(string)]
		}
	}
	return value
}

// manifests returns the documents of a directory by their kinds, its kustomization included.
func manifests(t *testing.T, dir string) map[string]document {
	t.Helper()
	all := map[string]document{}
	read := func(file string) {
		text, err := os.ReadFile(filepath.Join("..", "..", dir, file))
		require.NoError(t, err)
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var d document
			err := decoder.Decode(&d)
			if errors.Is(err, io.EOF) {
				return
			}
			require.NoError(t, err, file)
			all[d["kind"].(string)] = d
		}
	}
	read("kustomization.yaml")
	for _, file := range all["Kustomization"]["resources"].([]any) {
		read(file.(string))
	}
	return all
}

// The image has a program for Linux only, and a cluster may have Windows nodes as well.
func TestPodsRunOnLinuxNodes(t *testing.T) {
	assert.Equal(t, document{"kubernetes.io/os": "linux"},
		manifests(t, "deploy")["Deployment"].at("spec", "template", "spec", "nodeSelector"),
		"the pods may go to nodes where the image does not run")
	examples, err := os.ReadFile(filepath.Join("..", "..", "examples", "deploy", "kustomization.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(examples), "- ../../deploy\n", "examples/deploy runs the same Deployment")
	assert.NotContains(t, string(examples), "nodeSelector")
}

// deploy/monitoring, which needs the Prometheus operator, matches deploy: the labels of the pods,
// the port, the namespaces.
func TestMonitoringFitsTheDeployment(t *testing.T) {
	deployed, monitoring := manifests(t, "deploy"), manifests(t, "deploy/monitoring")
	deployment, policy, monitor := deployed["Deployment"], deployed["NetworkPolicy"], monitoring["PodMonitor"]
	labels := deployment.at("spec", "template", "metadata", "labels")
	ports := deployment.at("spec", "template", "spec", "containers", 0, "ports", 0).(document)
	assert.Equal(t, labels, policy.at("spec", "podSelector", "matchLabels"))
	assert.Equal(t, ports["containerPort"], policy.at("spec", "ingress", 0, "ports", 0, "port"))
	assert.Equal(t, monitoring["Kustomization"]["namespace"],
		policy.at("spec", "ingress", 0, "from", 0, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"))
	assert.Equal(t, labels, monitor.at("spec", "selector", "matchLabels"))
	assert.Equal(t, deployment.at("metadata", "namespace"), monitor.at("spec", "namespaceSelector", "matchNames", 0))
	assert.Equal(t, ports["name"], monitor.at("spec", "podMetricsEndpoints", 0, "port"))
}

// krew links the plugin's name to the file of the archive that "make krew" builds.
func TestKrewInstallsTheNameThatTheProgramAnswersTo(t *testing.T) {
	text, err := os.ReadFile("../../deploy/krew/why-terminating.yaml")
	require.NoError(t, err)
	var manifest document
	require.NoError(t, yaml.Unmarshal(text, &manifest))
	name := manifest.at("metadata", "name").(string)
	assert.Equal(t, pluginName, "kubectl-"+strings.ReplaceAll(name, "-", "_"))
	var platforms []string
	for _, one := range manifest.at("spec", "platforms").([]any) {
		p := one.(document)
		labels := p.at("selector", "matchLabels").(document)
		platform := fmt.Sprint(labels["os"], "-", labels["arch"])
		platforms = append(platforms, platform)
		assert.Equal(t, name+"-"+platform+".tar.gz", path.Base(p["uri"].(string)))
		assert.Regexp(t, "^[0-9a-f]{64}$", p["sha256"])
		assert.Equal(t, []any{document{"from": p["bin"], "to": "."}}, p["files"])
		assert.True(t, isPlugin(p["bin"].(string)), p["bin"])
	}
	assert.Equal(t, []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"}, platforms)
}
