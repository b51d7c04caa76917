package kubeconfig

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/credentials"
	"orrery/restclient/restclienttest"
)

func TestCausesCanBeAskedFor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	for name, value := range map[string]string{
		"KUBECONFIG": "", "HOME": "", "KUBERNETES_SERVICE_HOST": "1", "KUBERNETES_SERVICE_PORT": "1",
	} {
		t.Setenv(name, value)
	}
	_, _, err := Load(Options{serviceAccountDir: dir})
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

// TestScenarios runs the files in testdata/scenarios. Commands:
//
//	file path      write the text; CA64, CERT64 and KEY64 stand for base64 of PEM, DIR for the scenario's directory
//	pem path=P what=ca|cert|key
//	load [path=P] [context=C] [as=U as-group=G] [kubeconfig=P:P] [home=P] [pod]
//	               what Load returns, and what a request looks like
//
// Tokens and passwords in the scenarios begin with "s3cret". They may appear only in the
// request's header.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := newScenario(t)
		datadriven.RunTest(t, path, s.run)
	})
}

type scenario struct {
	dir  string
	ca   restclienttest.Pair
	user restclienttest.Pair
}

func newScenario(t *testing.T) *scenario {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return &scenario{dir: dir, ca: restclienttest.NewPair(t, "the-ca"), user: restclienttest.NewPair(t, "the-user")}
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "file":
		s.write(t, d.CmdArgs[0].Key, []byte(s.expand(d.Input)))
		return ""
	case "pem":
		var path, what string
		d.ScanArgs(t, "path", &path)
		d.ScanArgs(t, "what", &what)
		s.write(t, path, map[string][]byte{"ca": s.ca.Cert, "cert": s.user.Cert, "key": s.user.Key}[what])
		return ""
	case "load":
		return s.load(t, d)
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
		return ""
	}
}

func (s *scenario) write(t *testing.T, path string, content []byte) {
	path = filepath.Join(s.dir, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

func (s *scenario) expand(text string) string {
	encode := base64.StdEncoding.EncodeToString
	return strings.NewReplacer("CA64", encode(s.ca.Cert), "CERT64", encode(s.user.Cert), "KEY64", encode(s.user.Key),
		"DIR", s.dir).Replace(text)
}

func (s *scenario) load(t *testing.T, d *datadriven.TestData) string {
	env := map[string]string{"KUBECONFIG": "", "HOME": "", "KUBERNETES_SERVICE_HOST": "", "KUBERNETES_SERVICE_PORT": ""}
	opts := Options{serviceAccountDir: filepath.Join(s.dir, "serviceaccount")}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "path":
			opts.Path = filepath.Join(s.dir, arg.Vals[0])
		case "context":
			opts.Context = arg.Vals[0]
		case "as":
			opts.As = arg.Vals[0]
		case "as-group":
			opts.AsGroups = append(opts.AsGroups, arg.Vals...)
		case "kubeconfig":
			var paths []string
			for path := range strings.SplitSeq(arg.Vals[0], ":") {
				if path != "" {
					path = filepath.Join(s.dir, path)
				}
				paths = append(paths, path)
			}
			env["KUBECONFIG"] = strings.Join(paths, string(filepath.ListSeparator))
		case "home":
			env["HOME"] = filepath.Join(s.dir, arg.Vals[0])
		case "pod":
			env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"] = "10.96.0.1", "443"
		default:
			d.Fatalf(t, "unknown argument %q", arg.Key)
		}
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	cfg, info, err := Load(opts)
	if err == nil {
		_, err = restclient.New(cfg) // the program's next call
	}
	return s.describe(t, cfg, info, err)
}

func (s *scenario) describe(t *testing.T, cfg restclient.Config, info *Info, err error) string {
	var out strings.Builder
	if err != nil {
		fmt.Fprintf(&out, "%T: %v\n", err, err)
	} else {
		s.describeConfig(t, &out, cfg, info)
	}
	for _, warning := range info.Warnings {
		fmt.Fprintf(&out, "warning: %s\n", warning)
	}
	everything := out.String() + fmt.Sprintf("%v %+v %#v %v", cfg, cfg, cfg, info)
	assert.NotContains(t, everything, "s3cret")
	if err == nil {
		describeRequest(t, &out, cfg)
	}
	return strings.ReplaceAll(out.String(), s.dir, "DIR")
}

func (s *scenario) describeConfig(t *testing.T, out *strings.Builder, cfg restclient.Config, info *Info) {
	fmt.Fprintf(out, "server %s\n", cfg.Host)
	tls := cfg.TLS
	if len(tls.CAData) > 0 {
		assert.Equal(t, s.ca.Cert, tls.CAData)
		tls.CAFile = "(inline)"
	}
	if tls.CAFile != "" || tls.ServerName != "" || tls.Insecure {
		fmt.Fprintf(out, "tls ca=%s server-name=%s insecure=%v\n", tls.CAFile, tls.ServerName, tls.Insecure)
	}
	if cfg.Proxy != nil {
		proxy, err := cfg.Proxy(nil)
		require.NoError(t, err)
		fmt.Fprintf(out, "proxy %s\n", proxy.Redacted())
	}
	fmt.Fprintf(out, "context %q cluster %q user %q namespace %q files %s\n", info.Context, info.Cluster, info.User,
		info.Namespace, strings.Join(info.Files, " "))
}

// describeRequest shows the credentials' effect on a request, headers included.
func describeRequest(t *testing.T, out *strings.Builder, cfg restclient.Config) {
	if cfg.Credentials == nil {
		fmt.Fprintf(out, "anonymous\n")
		return
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, cfg.Host+"/version", nil)
	if err := cfg.Credentials.Apply(req); err != nil {
		fmt.Fprintf(out, "apply: %v\n", err)
		return
	}
	var lines []string
	for name, values := range req.Header {
		for _, value := range values {
			lines = append(lines, fmt.Sprintf("header %s: %s\n", name, value))
		}
	}
	slices.Sort(lines)
	out.WriteString(strings.Join(lines, ""))
	cert, err := cfg.Credentials.ClientCertificate()
	require.NoError(t, err)
	if cert != nil {
		fmt.Fprintf(out, "client certificate of %s\n", cert.Leaf.Subject.CommonName)
	}
}
