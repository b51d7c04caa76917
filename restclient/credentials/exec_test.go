package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/restclienttest"
)

// TestMain lets the test binary act as an exec plugin. pluginScript names a file with its script;
// the plugin prints it with RUNS replaced by the number of runs. pluginRuns names a file with a
// line for each run.
const (
	pluginScript = "ORRERY_TEST_PLUGIN_SCRIPT"
	pluginRuns   = "ORRERY_TEST_PLUGIN_RUNS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(pluginScript); path != "" {
		script, _ := os.ReadFile(path)
		playPlugin(string(script))
	}
	os.Exit(m.Run())
}

func playPlugin(script string) {
	runs := 1
	if path := os.Getenv(pluginRuns); path != "" {
		file, _ := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		fmt.Fprintln(file, os.Getenv("KUBERNETES_EXEC_INFO"))
		file.Close()
		data, _ := os.ReadFile(path)
		runs = strings.Count(string(data), "\n")
	}
	verb, rest, _ := strings.Cut(script, " ")
	switch verb {
	case "print":
		fmt.Print(strings.ReplaceAll(rest, "RUNS", fmt.Sprint(runs)))
	case "fail":
		fmt.Print(secret)
		fmt.Fprint(os.Stderr, "please log in")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	case "flood":
		for range 100 {
			fmt.Print(strings.Repeat("x", maxExecOutput/10))
		}
	}
	os.Exit(0)
}

func pluginToken(token string) string {
	return `print {"kind":"ExecCredential","apiVersion":"` + ExecV1 + `","status":{"token":"` + token + `"}}`
}

// pluginConfig makes the test binary the plugin and returns the file with its runs.
func pluginConfig(t *testing.T, script string) (cfg ExecConfig, runs string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	runs = filepath.Join(dir, "runs")
	write(t, filepath.Join(dir, "script"), script)
	return ExecConfig{
		APIVersion: ExecV1, Command: exe, InteractiveMode: InteractiveNever, Stderr: io.Discard,
		Args: []string{secret},
		Env: []EnvVar{
			{pluginScript, filepath.Join(dir, "script")}, {pluginRuns, runs}, {"SOME", secret},
			{"GORACE", "atexit_sleep_ms=0"}, // or each run with the race detector takes a second longer
		},
	}, runs
}

// rewrite changes the plugin's script from its next run on.
func rewrite(t *testing.T, cfg ExecConfig, script string) {
	t.Helper()
	write(t, cfg.Env[0].Value, script)
}

func newExec(t *testing.T, cfg ExecConfig) *Exec {
	t.Helper()
	e, err := NewExec(cfg)
	require.NoError(t, err)
	assertHides(t, e)
	assertHides(t, cfg)
	assertHides(t, &cfg)
	return e
}

func newPlugin(t *testing.T, script string) *Exec {
	t.Helper()
	cfg, _ := pluginConfig(t, script)
	return newExec(t, cfg)
}

// linesOf returns the input of each run of the plugin.
func linesOf(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\n")
	}
	return lines[:len(lines)-1] // what is behind the last line end is not complete
}

func TestExecTokenIsKeptUntilItIsRefused(t *testing.T) {
	cfg, runs := pluginConfig(t, pluginToken("tokenRUNS"))
	e := newExec(t, cfg)
	cfg.Env[0].Value = "changed by the caller"
	assert.Empty(t, linesOf(t, runs), "the plugin runs when it is needed")
	first := sent(t, e)
	assert.Equal(t, "Bearer token1", header(t, e))
	assert.Nil(t, clientCertificate(t, e))
	require.Len(t, linesOf(t, runs), 1)
	assert.JSONEq(t, `{"kind":"ExecCredential","apiVersion":"`+ExecV1+`","spec":{"interactive":false}}`,
		linesOf(t, runs)[0])

	e.Unauthorized(request(t))
	assert.Equal(t, "Bearer token1", header(t, e), "that request was not made with this token")
	e.Unauthorized(first)
	assert.Equal(t, "Bearer token2", header(t, e))
	e.Unauthorized(first) // the late answer to an older request
	assert.Equal(t, "Bearer token2", header(t, e))

	first.Header.Set("Authorization", "Bearer other")
	require.NoError(t, newPlugin(t, "fail").Apply(first), "a header that is set already makes the plugin needless")
}

// A plugin that cannot do better than the refused token, or whose new ones are refused too, runs
// once, whatever the number of refused requests, and again after a pause.
func TestExecRunsOnceForManyRefusals(t *testing.T) {
	for name, token := range map[string]string{"the same token": "bad", "another bad one": "badRUNS"} {
		synctest.Test(t, func(t *testing.T) {
			cfg, runs := pluginConfig(t, pluginToken(token))
			e := newExec(t, cfg)
			header(t, e)
			refuse := func() {
				var requests sync.WaitGroup
				for range 20 {
					refused := sent(t, e)
					requests.Go(func() {
						e.Unauthorized(refused)
						e.Unauthorized(sent(t, e)) // it is repeated with the new token
					})
				}
				requests.Wait()
			}
			refuse()
			refuse()
			assert.Len(t, linesOf(t, runs), 2, "%s: want one more run for all refused requests", name)
			time.Sleep(renewalPause)
			refuse()
			assert.Len(t, linesOf(t, runs), 3, "%s: after a pause the plugin gets another chance", name)
		})
	}
}

func TestExecTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		expires := time.Now().Add(10 * time.Minute).UTC().Format(time.RFC3339)
		cfg, _ := pluginConfig(t,
			`print {"kind":"ExecCredential","apiVersion":"`+ExecV1beta1+`","status":{"token":"tokenRUNS","expirationTimestamp":"`+expires+`"}}`)
		cfg.APIVersion = ExecV1beta1
		e := newExec(t, cfg)
		assert.Equal(t, "Bearer token1", header(t, e))
		time.Sleep(10 * time.Minute)
		assert.Equal(t, "Bearer token1", header(t, e))
		time.Sleep(time.Second)
		assert.Equal(t, "Bearer token2", header(t, e))
		time.Sleep(9 * time.Second)
		assert.Equal(t, "Bearer token2", header(t, e),
			"what was expired when it came, because our clock is ahead, is used for a while")
		time.Sleep(time.Second)
		assert.Equal(t, "Bearer token3", header(t, e))
	})
}

func TestExecReceivesTheCluster(t *testing.T) {
	cfg, runs := pluginConfig(t, pluginToken("x"))
	cfg.Cluster = &ExecCluster{
		Server: "https://h", TLSServerName: "n", InsecureSkipTLSVerify: true, CertificateAuthorityData: []byte("ca"),
		ProxyURL: "http://p", Config: json.RawMessage(`{"a":[1]}`),
	}
	header(t, newExec(t, cfg))
	assert.JSONEq(t,
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false,"cluster":{
		"server":"https://h","tls-server-name":"n","insecure-skip-tls-verify":true,"certificate-authority-data":"Y2E=",
		"proxy-url":"http://p","config":{"a":[1]}}}}`, linesOf(t, runs)[0])

	cfg.Cluster.Config = json.RawMessage(secret)
	assertExecError(t, newExec(t, cfg), "has a cluster extension that is not valid JSON")
}

func certificateScript(t *testing.T, pair restclienttest.Pair) string {
	status, err := json.Marshal(map[string]string{"clientCertificateData": string(pair.Cert),
		"clientKeyData": string(pair.Key)})
	require.NoError(t, err)
	return `print {"kind":"ExecCredential","apiVersion":"` + ExecV1 + `","status":` + string(status) + `}`
}

func TestExecCertificate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, runs := pluginConfig(t, certificateScript(t, restclienttest.NewPair(t, "jane")))
		e := newExec(t, cfg)
		cert := clientCertificate(t, e)
		assert.Equal(t, "jane", cert.Leaf.Subject.CommonName)
		assert.Empty(t, header(t, e))

		e.Unauthorized(request(t))
		assert.Same(t, cert, clientCertificate(t, e))
		assert.Len(t, linesOf(t, runs), 1, "the refused request may have been made with an older one")
		time.Sleep(renewalPause)
		e.Unauthorized(request(t))
		assert.Same(t, cert, clientCertificate(t, e), "the plugin printed the same one")
		assert.Len(t, linesOf(t, runs), 2)

		rewrite(t, cfg, certificateScript(t, restclienttest.NewPair(t, "next")))
		time.Sleep(renewalPause)
		e.Unauthorized(request(t))
		assert.Equal(t, "next", clientCertificate(t, e).Leaf.Subject.CommonName)
	})
}

func assertExecError(t *testing.T, e *Exec, problem string) *ExecError {
	t.Helper()
	err := e.Apply(request(t))
	var execError *ExecError
	require.ErrorAs(t, err, &execError)
	assert.Contains(t, err.Error(), problem)
	assert.NotContains(t, err.Error(), secret)
	_, err = e.ClientCertificate()
	assert.ErrorAs(t, err, new(*ExecError))
	return execError
}

func TestExecOutputThatIsNoCredential(t *testing.T) {
	pair := restclienttest.NewPair(t, "jane")
	other := restclienttest.NewPair(t, "joe")
	status := func(status string) string {
		return `{"kind":"ExecCredential","apiVersion":"` + ExecV1 + `","status":` + status + `}`
	}
	quote := func(b []byte) string { data, _ := json.Marshal(string(b)); return string(data) }
	for problem, output := range map[string]string{
		"did not print an ExecCredential in JSON":   secret,
		"did not print an ExecCredential in JSON ":  " \n",
		"did not print an ExecCredential in JSON  ": `{"kind":"s3cret"}`,
		"printed an ExecCredential of another version than " + ExecV1: `{"kind":"ExecCredential","apiVersion":"` +
			ExecV1beta1 + `"}`,
		"printed neither a token nor a client certificate":  status(`null`),
		"printed neither a token nor a client certificate ": status(`{}`),
		"printed only one of clientCertificateData and " +
			"clientKeyData": status(`{"token":"s3cret","clientKeyData":"s3cret"}`),
		"printed a client certificate and key that cannot be used together": status(`{"clientCertificateData":` +
			quote(pair.Cert) + `,"clientKeyData":` + quote(other.Key) + `}`),
		"printed a token that cannot stand in an HTTP header": status(`{"token":"s3cret s3cret"}`),
		"printed an expirationTimestamp that is not an " +
			"RFC 3339 time": status(`{"token":"x","expirationTimestamp":"s3cret"}`),
		"did not print an ExecCredential in JSON   ": status(`{"token":{"s3cret":1}}`),
	} {
		t.Run(problem, func(t *testing.T) {
			assertExecError(t, newPlugin(t, "print "+output), strings.TrimSpace(problem))
		})
	}
	assertExecError(t, newPlugin(t, "flood"), "printed more than 1048576 bytes")
}

func TestExecFails(t *testing.T) {
	cfg, _ := pluginConfig(t, "fail")
	var stderr strings.Builder
	cfg.Stderr = &stderr
	assertExecError(t, newExec(t, cfg), "failed (exit status 3): see what it wrote to standard error")
	assert.Equal(t, strings.Repeat("please log in", 2), stderr.String(), "the user sees the plugin's output")

	cfg.Command, cfg.InstallHint = "orrery-test-no-such-plugin", "Get it:\n\thttps://example.com \x1b[31mnow\x1b[0m"
	missing := assertExecError(t, newExec(t, cfg), `exec plugin "orrery-test-no-such-plugin" was not found: install `+
		`it or correct its path: "Get it:\n\thttps://example.com \x1b[31mnow\x1b[0m"`)
	assert.ErrorIs(t, missing, exec.ErrNotFound)
	cfg.Command = "/none/at/all"
	assertExecError(t, newExec(t, cfg), "was not found")
	cfg.Command = tempFile(t, "not executable")
	assertExecError(t, newExec(t, cfg), "could not be run: permission denied")
}

// The requests that wait when a run is cancelled with its request start another, one for all.
func TestExecIsStoppedWithItsRequest(t *testing.T) {
	cfg, runs := pluginConfig(t, "hang")
	e := newExec(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	apply := func(ctx context.Context) { result <- e.Apply(request(t).WithContext(ctx)) }
	go apply(ctx)
	require.Eventually(t, func() bool { return len(linesOf(t, runs)) == 1 }, 10*time.Minute, time.Millisecond)
	hasty, leave := context.WithCancel(t.Context())
	leave()
	go apply(hasty)
	assert.ErrorIs(t, <-result, context.Canceled, "a request waits no longer than its context")

	rewrite(t, cfg, pluginToken("tokenRUNS"))
	for range 3 {
		go apply(t.Context())
	}
	cancel()
	cancelled := 0
	for range 4 {
		if err := <-result; err != nil {
			assert.ErrorIs(t, err, context.Canceled)
			assert.ErrorAs(t, err, new(*ExecError))
			cancelled++
		}
	}
	assert.Equal(t, 1, cancelled, "the end of one request does not fail the others")
	assert.Equal(t, "Bearer token2", header(t, e))
}

// A plugin that fails, and may have asked the user for something, does not run once for each
// request that waits for it. What failed before does not count while it runs again.
func TestExecFailsForAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, runs := pluginConfig(t, "")
		e := newExec(t, cfg)
		for past, script := range []string{"fail", pluginToken("x")} {
			rewrite(t, cfg, script)
			e.running, e.runs = make(chan struct{}), e.runs+1
			var requests sync.WaitGroup
			for range 20 {
				requests.Go(func() {
					_, failed := errors.AsType[*ExecError](e.Apply(request(t)))
					assert.Equal(t, script == "fail", failed, "a request ends as the plugin")
				})
			}
			synctest.Wait() // they wait for the run that has begun before them
			e.mu.Lock()
			close(e.running)
			e.running, e.failed = nil, e.cfg.fail("failed", nil)
			e.mu.Unlock()
			requests.Wait()
			assert.Len(t, linesOf(t, runs), past+1, "want one run for all of them")
		}
	})
}

// The plugin gets standard input if that is a terminal, and is told so.
func TestExecInteractive(t *testing.T) {
	previous := os.Stdin
	defer func() { os.Stdin = previous }()
	for _, device := range []string{os.DevNull, "/dev/ptmx"} {
		file, err := os.OpenFile(device, os.O_RDWR, 0)
		require.NoError(t, err)
		defer file.Close()
		os.Stdin = file
		for _, mode := range []InteractiveMode{InteractiveNever, InteractiveIfAvailable, InteractiveAlways} {
			cfg, runs := pluginConfig(t, pluginToken("x"))
			cfg.InteractiveMode = mode
			if device == os.DevNull && mode == InteractiveAlways {
				_, err := cfg.run(t.Context())
				assert.ErrorContains(t, err, "must ask the user, but standard input is not a terminal")
				continue
			}
			header(t, newExec(t, cfg))
			want := device != os.DevNull && mode != InteractiveNever
			assert.Contains(t, linesOf(t, runs)[0], fmt.Sprintf(`"interactive":%v`, want), "%s, %s", device, mode)
		}
	}
}

func TestExecConfigIsChecked(t *testing.T) {
	good := ExecConfig{APIVersion: ExecV1, Command: "x", InteractiveMode: InteractiveNever}
	for _, c := range []struct {
		problem string
		spoil   func(*ExecConfig)
	}{
		{"has no command: set exec.command", func(c *ExecConfig) { c.Command = "" }},
		{`has the apiVersion ""`, func(c *ExecConfig) { c.APIVersion = "" }},
		{`has the apiVersion "v1", which is not supported: use a version of the plugin that speaks ` + ExecV1 + " or " +
			ExecV1beta1, func(c *ExecConfig) { c.APIVersion = "v1" }},
		{"has an environment variable without name", func(c *ExecConfig) { c.Env = []EnvVar{{Value: secret}} }},
		{`has the interactiveMode "": set exec.interactiveMode to one of [Never IfAvailable Always]`,
			func(c *ExecConfig) { c.InteractiveMode = "" }},
		{`has the interactiveMode "Sometimes"`, func(c *ExecConfig) { c.InteractiveMode = "Sometimes" }},
	} {
		cfg := good
		c.spoil(&cfg)
		_, err := NewExec(cfg)
		var execError *ExecError
		require.ErrorAs(t, err, &execError)
		assert.Contains(t, err.Error(), c.problem)
		assert.NotContains(t, err.Error(), secret)
	}
	good.APIVersion, good.InteractiveMode = ExecV1beta1, ""
	e, err := NewExec(good)
	require.NoError(t, err)
	assert.Equal(t, InteractiveIfAvailable, e.cfg.InteractiveMode)
	assert.Equal(t, "exec plugin x", e.String())
}
