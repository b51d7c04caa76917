package kubeconfig

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func full() *Config {
	cfg := Single("a", Cluster{
		Server: "https://h", TLSServerName: "n", CertificateAuthority: "/ca", CertificateAuthorityData: Data("s3cret-ca"), ProxyURL: "http://me:s3cret@p",
		InsecureSkipTLSVerify: true, DisableCompression: true, Extensions: []Extension{{Name: "x", Extension: map[string]any{"k": "v"}}},
	}, User{
		Token: "s3cret-token", TokenFile: "/t", ClientCertificate: "/c", ClientCertificateData: Data("s3cret-cert"), ClientKey: "/k",
		ClientKeyData: Data("s3cret-key"), Username: "me", Password: "s3cret-password",
		Impersonate: "j", ImpersonateUID: "1", ImpersonateGroups: []string{"g"}, ImpersonateUserExtra: map[string][]string{"e": {"f"}},
		Exec: &Exec{
			APIVersion: "v", Command: "/bin/x", Args: []Secret{"s3cret-arg"}, Env: []ExecEnv{{Name: "N", Value: "s3cret-env"}},
			InstallHint: "hint", InteractiveMode: "Never", ProvideClusterInfo: true,
		},
		AuthProvider: &AuthProvider{Name: "gcp"},
	}, "ns")
	cfg.Merge(Single("b", Cluster{Server: "https://b"}, User{}, ""))
	return cfg
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dir", "config")
	cfg := full()
	require.NoError(t, cfg.WriteFile(path))

	read, err := ReadFile(path)
	require.NoError(t, err)
	for _, c := range read.Clusters {
		assert.Equal(t, path, c.file)
		c.file = ""
	}
	for _, u := range read.Users {
		u.file = ""
	}
	for _, c := range read.Contexts {
		c.file = ""
	}
	if !assert.ObjectsAreEqual(cfg, read) { // a failure must not print secrets either
		t.Fatal("something was lost on the way")
	}
}

func TestFileIsForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	require.NoError(t, full().WriteFile(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")
}

func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.Error(t, full().WriteFile(filepath.Join(file, "config")), "no directory")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	assert.Error(t, full().WriteFile(filepath.Join(dir, "directory")), "a directory is in the way")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no temporary file is left")

	cfg := full()
	cfg.Clusters["a"].Extensions[0].Extension = func() {}
	assert.Panics(t, func() { _ = cfg.WriteFile(file) }, "functions cannot be written")
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
	assert.Contains(t, fmt.Sprintf("%v", user), "[10 bytes]")
	assert.NotContains(t, fmt.Sprint(User{}), "[redacted]", "that there is no token is no secret")
}
