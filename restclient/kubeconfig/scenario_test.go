package kubeconfig

import (
	"encoding/base64"
	"fmt"
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
	"orrery/restclient/restclienttest"
)

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
	opts := Options{ServiceAccountDir: filepath.Join(s.dir, "serviceaccount")}
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
