package kubeconfig

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/credentials"
	"orrery/restclient/restclienttest"
)

// asPlugin makes the test binary act as an exec plugin. It returns its first argument and its
// input as a token.
const asPlugin = "ORRERY_TEST_AS_PLUGIN"

func TestMain(m *testing.M) {
	if prefix := os.Getenv(asPlugin); prefix != "" {
		token, _ := json.Marshal(prefix + " " + os.Args[1] + " " + os.Getenv("KUBERNETES_EXEC_INFO"))
		fmt.Printf(`{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1",
			"status": {"token": %q}}`, fmt.Sprintf("%x", token))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// reported decodes such a token.
func reported(t *testing.T, loaded credentialsOf) string {
	t.Helper()
	req := httptest.NewRequest(http.MethodGet, "https://h/", nil)
	require.NoError(t, loaded.Apply(req))
	var token []byte
	_, err := fmt.Sscanf(req.Header.Get("Authorization"), "Bearer %x", &token)
	require.NoError(t, err)
	var text string
	require.NoError(t, json.Unmarshal(token, &text))
	return text
}

type credentialsOf interface{ Apply(*http.Request) error }

func writePluginConfig(t *testing.T, dir string, cluster Cluster, exec Exec) string {
	t.Helper()
	exec.Args = []Secret{"s3cret-argument"}
	exec.Env = []ExecEnv{{Name: asPlugin, Value: "s3cret-value"}, {Name: "GORACE", Value: "atexit_sleep_ms=0"}}
	path := filepath.Join(dir, "config")
	require.NoError(t, Single("k", cluster, User{Exec: &exec}, "").WriteFile(path))
	return path
}

func TestExecPluginFromKubeconfig(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.Symlink(exe, filepath.Join(dir, "bin", "plugin")))
	ca := restclienttest.NewPair(t, "ca")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.crt"), ca.Cert, 0o600))

	cluster := Cluster{Server: "https://h:6443", CertificateAuthority: "ca.crt", Extensions: []Extension{
		{Name: "another.owner", Extension: "x"},
		{Name: execExtension, Extension: map[string]any{"audience": "prod", "ports": []any{1, 2}}},
	}}
	// The command is relative to the directory of the file, not to the working directory.
	exec := Exec{APIVersion: credentials.ExecV1beta1, Command: "./bin/plugin", ProvideClusterInfo: true, InteractiveMode: "Never"}
	cfg, _, err := Load(Options{Path: writePluginConfig(t, dir, cluster, exec)})
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg.Credentials), "s3cret")

	ca64, _ := json.Marshal(ca.Cert)
	assert.Equal(t, `s3cret-value s3cret-argument {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{`+
		`"cluster":{"server":"https://h:6443","certificate-authority-data":`+string(ca64)+`,"config":{"audience":"prod","ports":[1,2]}},"interactive":false}}`,
		reported(t, cfg.Credentials))
}

func TestExecPluginMistakes(t *testing.T) {
	cluster := Cluster{Server: "https://h"}
	cases := map[string]struct {
		cluster Cluster
		exec    Exec
		want    string
	}{
		"no version": {cluster, Exec{Command: "x"},
			`the user "k" in FILE has an exec plugin that has no apiVersion: set exec.apiVersion to client.authentication.k8s.io/v1`},
		"old version": {cluster, Exec{Command: "x", APIVersion: "client.authentication.k8s.io/v1alpha1"},
			`the user "k" in FILE has an exec plugin that has the apiVersion "client.authentication.k8s.io/v1alpha1", which is not supported: ` +
				`use a version of the plugin that speaks client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1`},
		"no mode": {cluster, Exec{Command: "x", APIVersion: credentials.ExecV1},
			`the user "k" in FILE has an exec plugin that has the interactiveMode "": set exec.interactiveMode to Never, IfAvailable or Always`},
		"no command": {cluster, Exec{APIVersion: credentials.ExecV1, InteractiveMode: "Never"},
			`the user "k" in FILE has an exec plugin that has no command: set exec.command`},
		"extension that is no JSON": {
			Cluster{Server: "https://h", Extensions: []Extension{{Name: execExtension, Extension: map[any]any{1: "s3cret"}}}},
			Exec{Command: "x", APIVersion: credentials.ExecV1beta1, ProvideClusterInfo: true},
			`the cluster "k" in FILE has the extension client.authentication.k8s.io/exec, which cannot be written as JSON: give its fields names that are strings`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := writePluginConfig(t, t.TempDir(), c.cluster, c.exec)
			_, _, err := Load(Options{Path: path})
			var entryError *EntryError
			require.ErrorAs(t, err, &entryError)
			entryError.File = "FILE"
			assert.Equal(t, c.want, entryError.Error())
		})
	}
}
