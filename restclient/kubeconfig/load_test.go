package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/credentials"
)

func TestCausesCanBeAskedFor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	for name, value := range map[string]string{
		"KUBECONFIG": "", "HOME": "", "KUBERNETES_SERVICE_HOST": "1", "KUBERNETES_SERVICE_PORT": "1",
	} {
		t.Setenv(name, value)
	}
	_, _, err := Load(Options{ServiceAccountDir: dir})
	assert.ErrorContains(t, err, "this is a pod without a usable service account")
	errs := []error{err}
	_, info, err := Load(Options{Path: path})
	require.NotNil(t, info)
	errs = append(errs, err)
	for _, user := range []User{{TokenFile: "none"}, {ClientCertificate: "none", ClientKey: "none"}} {
		require.NoError(t, ofUser(user).WriteFile(path))
		_, _, err = Load(Options{Path: path})
		errs = append(errs, err)
	}
	for _, err := range errs {
		assert.ErrorIs(t, err, fs.ErrNotExist)
		assert.ErrorAs(t, err, new(*credentials.FileError))
	}
}

// Paths are relative to the file, also if its own path is relative; a bare command is looked up in
// PATH.
func TestRelativePaths(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(dir)
	for command, want := range map[string]string{"aws": "aws", "./aws": filepath.Join(dir, "sub", "aws"),
		"/bin/aws": "/bin/aws"} {
		user := User{Exec: &credentials.ExecConfig{Command: command}}
		require.NoError(t, Single("k", Cluster{CertificateAuthority: "../ca.crt"}, user, "").WriteFile("sub/config"))
		cfg, err := ReadFile("sub/config")
		require.NoError(t, err)
		assert.Equal(t, want, cfg.Users["k"].Exec.Command)
		assert.Equal(t, filepath.Join(dir, "ca.crt"), cfg.Clusters["k"].CertificateAuthority)
	}
}

// ofUser is a kubeconfig with one user of a cluster that needs nothing.
func ofUser(user User) *Config { return Single("k", Cluster{Server: "https://h"}, user, "") }

// FuzzParse feeds the parser with damaged kubeconfigs. It must not panic, must return only a
// ParseError, must not quote the file, and must read its own output.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/scenarios/*")
	require.NoError(f, err)
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			for part := range strings.SplitSeq(string(text), "\n----\n") {
				_, part, _ = strings.Cut(part, "\n") // without the command
				f.Add([]byte(part))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := Parse(text, "FILE")
		var parseError *ParseError
		if err != nil {
			require.True(t, errors.As(err, &parseError))
			require.NotContains(t, err.Error(), "s3cret")
			require.Less(t, len(err.Error()), 600, "it says what is wrong and does not repeat the file")
			require.GreaterOrEqual(t, parseError.Line, 0)
			require.LessOrEqual(t, parseError.Line, bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r"))+2)
			return
		}
		written, err := cfg.Marshal()
		require.NoError(t, err)
		again, err := Parse(written, "FILE")
		require.NoError(t, err)
		writtenAgain, err := again.Marshal()
		require.NoError(t, err)
		require.Equal(t, string(written), string(writtenAgain))
	})
}

func full() *Config {
	return Single("a", Cluster{
		Server: "https://h", TLSServerName: "n", CertificateAuthority: "/ca",
		CertificateAuthorityData: Data("s3cret-ca"), ProxyURL: "http://me:s3cret@p", InsecureSkipTLSVerify: true,
		Extensions: []Extension{{Name: "x", Extension: map[string]any{"k": "v"}}},
	}, User{
		Token: "s3cret-token", TokenFile: "/t", ClientCertificate: "/c", ClientCertificateData: Data("s3cret-cert"),
		ClientKey: "/k", ClientKeyData: Data("s3cret-key"), Impersonate: "j", ImpersonateGroups: []string{"g"},
		Exec: &credentials.ExecConfig{
			APIVersion: "v", Command: "/bin/x", Args: []string{"s3cret-arg"},
			Env:         []credentials.EnvVar{{Name: "N", Value: "s3cret-env"}},
			InstallHint: "hint", InteractiveMode: "Never", ProvideClusterInfo: true,
		},
		Username: true, Password: true, ImpersonateUID: true, ImpersonateUserExtra: true, AuthProvider: true,
	}, "ns")
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dir", "config")
	cfg := full()
	require.NoError(t, cfg.WriteFile(path))
	read, err := ReadFile(path)
	require.NoError(t, err)
	if !assert.ObjectsAreEqual(cfg, read) { // a failure must not print secrets either
		t.Fatal("something was lost on the way")
	}
}

func TestFileIsForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	require.NoError(t, full().WriteFile(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	assert.Error(t, full().WriteFile(filepath.Join(path, "config")), "no directory")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	assert.Error(t, full().WriteFile(filepath.Join(dir, "directory")), "a directory is in the way")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no temporary file is left")
}

func TestSecretsAreNotPrinted(t *testing.T) {
	cfg := full()
	encoded, err := json.Marshal(cfg)
	require.NoError(t, err)
	user, cluster := *cfg.Users["a"], *cfg.Clusters["a"]
	all := string(encoded) + fmt.Sprint(cfg)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		all += fmt.Sprintf(format, user) + fmt.Sprintf(format, cluster)
	}
	assert.NotContains(t, all, "s3cret")
	assert.NotContains(t, all, fmt.Sprintf("%x", "s3cret"))
	assert.NotContains(t, all, "czNjcmV0", "base64")
	assert.Contains(t, fmt.Sprintf("%v", user), "[redacted]")
	assert.NotContains(t, fmt.Sprint(User{}), "[redacted]", "that there is no token is no secret")
}

func TestExecPluginFromKubeconfig(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.crt"), []byte("the authority"), 0o600))
	cluster := Cluster{Server: "https://h:6443", CertificateAuthority: "ca.crt", Extensions: []Extension{
		{Name: "another.owner", Extension: "x"},
		{Name: execExtension, Extension: map[string]any{"audience": "prod", "ports": []any{1, 2}}},
	}}
	plugin := credentials.ExecConfig{
		APIVersion: credentials.ExecV1, Command: "./plugin", ProvideClusterInfo: true, InteractiveMode: "Never",
		Args: []string{"s3cret-argument"}, Env: []credentials.EnvVar{{Name: "NAME", Value: "s3cret-value"}},
	}
	script := `#!/bin/sh
echo "$1 $NAME $KUBERNETES_EXEC_INFO" >"$0.asked"
echo '{"kind":"ExecCredential","apiVersion":"` + credentials.ExecV1 + `","status":{"token":"s3cret-token"}}'`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin"), []byte(script), 0o700))
	path := filepath.Join(dir, "config")
	require.NoError(t, Single("k", cluster, User{Exec: &plugin}, "").WriteFile(path))
	loaded, _, err := Load(Options{Path: path})
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", loaded, loaded, loaded.Credentials), "s3cret")

	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, loaded.Host, nil)
	require.NoError(t, loaded.Credentials.Apply(request))
	assert.Equal(t, "Bearer s3cret-token", request.Header.Get("Authorization"))
	asked, err := os.ReadFile(filepath.Join(dir, "plugin.asked"))
	require.NoError(t, err)
	info, ok := strings.CutPrefix(string(asked), "s3cret-argument s3cret-value ")
	require.True(t, ok, "the plugin gets its arguments and its environment")
	assert.JSONEq(t, `{"kind":"ExecCredential","apiVersion":"`+credentials.ExecV1+`","spec":{"interactive":false,
		"cluster":{"server":"https://h:6443","certificate-authority-data":"dGhlIGF1dGhvcml0eQ==",
		"config":{"audience":"prod","ports":[1,2]}}}}`, info)
}
