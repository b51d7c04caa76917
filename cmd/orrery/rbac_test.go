package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/controller/rbac"
	"orrery/restclient/api"
)

// The manifests in deploy are the program's own output.
func TestDeployHasTheRightsThatTheProgramSays(t *testing.T) {
	overlay, err := os.ReadFile(filepath.Join("..", "..", "examples", "deploy", "kustomization.yaml"))
	require.NoError(t, err)
	_, controllers, found := strings.Cut(string(overlay), "value: ")
	require.True(t, found)
	for file, args := range map[string][]string{
		"deploy/rbac.yaml":          nil,
		"examples/deploy/rbac.yaml": {strings.TrimSpace(controllers)},
	} {
		code, stdout, stderr := orrery(t, append([]string{"rbac"}, args...)...)
		require.Zero(t, code, stderr)
		manifest, err := os.ReadFile(filepath.Join("..", "..", file))
		require.NoError(t, err)
		assert.Equal(t, string(manifest), stdout, "%s is out of date: make manifests writes it", file)
	}
}

func TestRBACFlags(t *testing.T) {
	comments := regexp.MustCompile(`(?m)^\s*# .*\n`)
	_, everything, _ := orrery(t, "rbac")
	tests := []struct {
		args    []string
		has     []string
		without []string
	}{
		{nil, []string{"kind: ServiceAccount", "namespace: kube-system", "leases", "deletecollection",
			"namespace: default"}, []string{"kind: User"}},
		{[]string{"--user", "jane"},
			[]string{"- kind: User\n    apiGroup: rbac.authorization.k8s.io\n    name: jane\n", "name: orrery-jane\n"},
			[]string{"kind: ServiceAccount", "\n  name: orrery\n"}},
		{[]string{"--user", "https://issuer/x%y"}, []string{"name: orrery-https:--issuer-x-y\n"}, nil},
		{[]string{"--service-account", "tools/janitor"}, []string{"name: janitor", "namespace: tools",
			"name: orrery-tools-janitor-leader-election\n"}, []string{"\n  name: orrery\n"}},
		{[]string{"--dry-run"}, []string{"verbs: [list]", "name: orrery-dry-run\n"},
			[]string{"update", "create", "patch", "delete", "leases"}},
		{[]string{"--leader-elect=false"}, []string{"events"},
			[]string{"leases", "kind: Role\nmetadata:\n  name: orrery-leader-election"}},
		{[]string{"--events=false"}, []string{"leases"}, []string{"events"}},
		{[]string{"--leader-elect-resource-name", "mine", "--leader-elect-resource-namespace", "there"},
			[]string{"resourceNames: [mine]", "namespace: there"}, nil},
		{[]string{"--controllers", "replicaset"}, []string{"replicasets/status",
			"Events in the namespace of their object"}, []string{"namespaces", "deletecollection", "orrery-events"}},
		{[]string{"--controllers", "*,replicaset"}, []string{"replicasets/status", "deletecollection"},
			[]string{"deployments"}},
		// The order of the controllers does not matter: namespace-controller comes behind this one.
		{[]string{"--controllers", "*,deployment"}, []string{"deployments/status",
			"Events in the namespace of their object"}, []string{"orrery-events"}},
		{[]string{"--for", "why", "--user", "jane"}, []string{"name: orrery-why-jane", "subjectaccessreviews"},
			[]string{"leases", "delete"}},
		{[]string{"--for", "why", "--without", "secrets"}, []string{"configmaps"},
			[]string{"secrets", "apiGroups: []"}},
		{[]string{"--for", "why", "--without", "secrets", "--group", "example.com,keda.sh"},
			[]string{"configmaps", "example.com", "keda.sh", "subjectaccessreviews", "admissionregistration.k8s.io"},
			[]string{"secrets", "apiGroups: ['*']"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, stdout, stderr := orrery(t, append([]string{"rbac"}, test.args...)...)
			require.Zero(t, code, stderr)
			for _, part := range test.has {
				assert.Contains(t, stdout, part)
			}
			for _, part := range test.without {
				assert.NotContains(t, comments.ReplaceAllString(stdout, ""), part)
			}
			assert.Equal(t, len(test.args) == 0, stdout == everything)
		})
	}
}

// A run without the right to delete began without a message and looked as if it worked.
func TestARunSaysWhichRightsItLacks(t *testing.T) {
	r := startReplica(t, builtIn(t, "forbid:verb=delete|deletecollection", "forbid:verb=create|patch,resource=events"),
		"--controllers=*,replicaset")
	r.await("controller started")
	r.end()
	said := r.stderr.String()
	assert.Equal(t, 1, strings.Count(said, "this user lacks rights"), said)
	assert.Contains(t, said,
		`missing="delete, deletecollection everything (namespace-controller, replicaset-controller); create, patch events (Events); `)
	assert.Contains(t, said, "WARN")

	r = startReplica(t, builtIn(t))
	r.await("controller started")
	r.end()
	assert.NotContains(t, r.stderr.String(), "lacks rights")
}

func TestRightsInASentence(t *testing.T) {
	watch := rbac.RightTo(api.NamespacesResource, "", "", "get", "watch")
	update := rbac.RightTo(api.LeasesResource, "status", "", "update")
	named := rbac.RightTo(api.LeasesResource, "", "", "get")
	named.Namespace, named.Rule.ResourceNames = "kube-system", []string{"orrery"}
	for want, right := range map[string]rbac.Right{
		"get, watch namespaces (a, b)":                                watch,
		"update leases.coordination.k8s.io/status (a, b)":             update,
		"get leases.coordination.k8s.io orrery in kube-system (a, b)": named,
	} {
		right.For = []string{"b", "a", "b"}
		assert.Equal(t, want, inSentence(right))
	}
}

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
