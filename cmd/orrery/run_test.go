package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/controller"
	"orrery/controller/manager"
	"orrery/internal/app/cluster"
	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/wait"
)

func TestRunEndsWellWhenItIsStopped(t *testing.T) {
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", writeKubeconfig(t, inMemory(t, nil), "{}"))
	// The informer runs before the controller works. A controller that has not begun has nothing
	// to finish.
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "controller started") },
		10*time.Minute, time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	assert.Equal(t, 1, strings.Count(stderr.String(), "stopping: "))
	assert.True(t, strings.HasSuffix(stderr.String(), " stopped\n"), stderr.String())
}

// With "orrery run 2>&1 | tee log", the end of tee ends the run, in order.
func TestABrokenPipeEndsTheRunInOrder(t *testing.T) {
	url := inMemory(t, nil)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer writer.Close()
	_, ended := startOrrery(t, writer, "--kubeconfig", writeKubeconfig(t, url, "{}"), "-v2")
	_, err = reader.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	assert.NoError(t, <-ended)
}

// A login can wait for a person. It can be interrupted.
func TestALoginCanBeInterrupted(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	require.NoError(t, syscall.Mkfifo(started, 0o600))
	plugin := filepath.Join(dir, "plugin")
	require.NoError(t, os.WriteFile(plugin, []byte("#!/bin/sh\necho > "+started+"\nexec sleep 1000\n"), 0o700))
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", writeKubeconfig(t, "https://127.0.0.1:1", login(plugin, "")))
	fifo, err := os.OpenFile(started, os.O_RDWR, 0) // for both directions, so that opening does not wait for the plugin
	require.NoError(t, err)
	defer fifo.Close()
	running := make(chan error, 1)
	go func() {
		_, err := fifo.Read(make([]byte, 1))
		running <- err
	}()
	select {
	case err := <-running:
		require.NoError(t, err)
	case err := <-ended:
		require.Fail(t, "it ended before the plugin ran", "%v", err)
	}
	stop()
	require.NoError(t, <-ended)
	assert.Contains(t, stderr.String(), "stopped before it began")

	client, err := restclient.New(restclient.Config{Host: "https://127.0.0.1:1", Credentials: person{}})
	require.NoError(t, err)
	err = greet(t.Context(), client, &runOptions{}, logs.New(logs.Config{Writer: io.Discard}))
	assert.ErrorContains(t, err, "hurried: false", "a login takes as long as a person needs to type a code")
}

// person is a login that is given up, and says whether it had a time limit.
type person struct{ restclient.Credentials }

func (person) Apply(request *http.Request) error {
	_, hurried := request.Context().Deadline()
	return errors.New("hurried: " + strconv.FormatBool(hurried))
}

// blockedWriter is a full pipe whose reader does not read.
type blockedWriter struct{ forever chan struct{} }

func (w blockedWriter) Write([]byte) (int, error) {
	<-w.forever
	return 0, io.ErrClosedPipe
}

// A log that cannot be written changes nothing: the program watches, works, and stops on request.
func TestRunGoesOnWhenItsLogCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	blocked := blockedWriter{make(chan struct{})}
	defer close(blocked.forever)
	for name, stderr := range map[string]io.Writer{"full disk": full, "blocked reader": blocked} {
		for _, format := range []string{"text", "json"} {
			watching := make(chan struct{}, 100)
			url := inMemory(t, func(_ http.ResponseWriter, r *http.Request) bool {
				if isWatch(r) {
					watching <- struct{}{}
				}
				return false
			})
			stop, ended := startOrrery(t, stderr, "--kubeconfig", writeKubeconfig(t, url, "{}"), "-v2",
				"--log-format", format, "--metrics-port=0")
			for range 2 { // the question whether a streaming list is allowed; the list, which goes on as a watch
				select {
				case <-watching:
				case err := <-ended:
					require.Fail(t, "it ended before it watched", "%s, %s: %v", name, format, err)
				}
			}
			stop()
			assert.NoError(t, <-ended, "%s, %s", name, format)
		}
	}
}

// pooled is a controller that consists of a pool.
type pooled struct{ *controller.Pool }

func (p pooled) RunWithin(stop, alive context.Context) { p.Run(stop, alive) }

func TestWhatIsCutShortAtTheEndIsLeft(t *testing.T) {
	for limit, want := range map[time.Duration]struct {
		left []string
		err  error
		line string
	}{
		time.Second: {[]string{"slow default/a"}, program.Exit(1),
			"WARN  --shutdown-timeout has passed, some work is unfinished left=[\"slow default/a\"]\n"},
		time.Minute: {line: "INFO  stopped\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, err := restclient.New(restclient.Config{Host: "http://nowhere"})
			require.NoError(t, err)
			var log clustertest.Buffer
			logger := logs.New(logs.Config{Writer: &log})
			options := &runOptions{drainTimeout: limit, dryRun: true}
			p := &process{options: options, logger: logger, observer: &observer{announce: func() {}}}
			describe := func(c manager.ControllerContext) (manager.Controller, error) {
				config := c.WorkerConfig("slow")
				config.NewQueue = nil
				config.Keys = func() []string { return []string{"default/a"} }
				config.Reconcile = func(ctx context.Context, _ string) (time.Duration, error) {
					return 0, wait.Sleep(ctx, 10*time.Second)
				}
				return pooled{controller.NewPool(config)}, nil
			}
			p.manager = manager.NewManager(manager.Shared{
				Client: client, DrainTimeout: limit, Logger: logger, Lead: p.lead,
			}, []manager.Descriptor{{Name: "slow", New: describe}})
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, stop)
			require.NoError(t, p.run(ctx))
			assert.Equal(t, want.left, p.manager.Left())
			assert.Equal(t, want.err, p.stopped(ctx))
			assert.True(t, strings.HasSuffix(log.String(), want.line), log.String())
		})
	}
}

// A panic in a handler is logged with its stack, without anything that may be an object, and the
// process survives.
func TestPanicsAreRecoveredAndLogged(t *testing.T) {
	var out bytes.Buffer
	wait.ReallyCrash.Store(true) // as at the start of a program; a parallel test may have left it otherwise
	restore := survivePanics(logs.New(logs.Config{Writer: &out, Format: logs.JSON}))
	faults := []func(){
		func() { panic(errors.New("a-secret-of-an-object")) },
		func() { var none []int; _ = none[len(out.Bytes())] },
	}
	for _, fault := range faults {
		func() {
			defer wait.HandleCrashWithContext(context.Background())
			fault()
		}()
	}
	restore()
	reported := out.String()
	assert.Contains(t, reported, `"panic":"*errors.errorString"`)
	assert.Contains(t, reported, "index out of range")
	assert.Contains(t, reported, "TestPanicsAreRecoveredAndLogged", "the stack")
	assert.NotContains(t, reported, "a-secret-of-an-object")
	assert.True(t, wait.ReallyCrash.Load(), "the setting is restored")
}

// If --metrics-port names a port that is in use, the run fails. If the default port is in use,
// the run goes on without it.
func TestAPortThatIsTaken(t *testing.T) {
	url := inMemory(t, nil)
	port := strconv.Itoa(takenPort(t))
	code, _, stderr := orrery(t, "run", "--leader-elect=false", "--kubeconfig", writeKubeconfig(t, url, "{}"),
		"--metrics-port", port)
	assert.Equal(t, 1, code)
	assert.Equal(t, "orrery: cannot listen on 127.0.0.1:"+port+": address already in use; "+
		"choose another --metrics-port or --bind-address, or --metrics-port 0 to serve nothing\n", stderr)

	var options observerOptions
	options.addTo(pflag.NewFlagSet("run", pflag.ContinueOnError))
	options.port = takenPort(t)
	var log clustertest.Buffer
	logger := logs.Start(logs.Config{Writer: &log})
	observer, err := startObserver(options, logger)
	require.NoError(t, err)
	observer.announce()
	observer.stop()
	logger.Stop()
	assert.Contains(t, log.String(), "WARN  metrics and health are not served, set --metrics-port to serve them")
	options.flags.Lookup("bind-address").Changed = true
	_, err = startObserver(options, logger)
	assert.Error(t, err)
}

// The health of a run, from before there is a server to its end.
func TestHealthOfARun(t *testing.T) {
	answered := make(chan struct{}) // closed when the server begins to answer
	url := inMemory(t, func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-answered:
			return false
		case <-r.Context().Done():
			return true
		}
	})
	port := programtest.FreePort(t)
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", writeKubeconfig(t, url, "{}"), "--metrics-port",
		strconv.Itoa(port), "--allow-second-controller")
	said := func() string { return stderr.String() }
	await(t, func() bool { return asked(port, "/livez") == "200 ok" }, said)
	assert.Equal(t,
		"500 [+]ping ok\n[-]informer-sync failed: no informer has been started yet\n[+]shutdown ok\nreadyz "+
			"check failed\n", asked(port, "/readyz"))
	close(answered)
	await(t, func() bool {
		return asked(port,
			"/readyz?verbose") == "200 [+]ping ok\n[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n"
	}, said)
	assert.Contains(t, asked(port, "/metrics"), "\norrery_informer_synced{informer=\"namespaces\"} 1\n")
	await(t, func() bool { // also without an election
		return strings.Contains(asked(port, "/metrics"), "\nleader_election_master_status{name=\"orrery\"} 1\n")
	}, said)
	assert.Contains(t, asked(port, "/metrics"), "\norrery_namespaces_passed_over 0\n", "what others delete is counted")
	assert.Contains(t, asked(port, "/debug/pprof/"), "404 ")
	gears := asked(port, "/debug/orrery")
	for _, gear := range []string{"client", "informer", "fifo", "store", "controller", "events", "gears"} {
		assert.Contains(t, gears, `"`+gear+`":{`)
	}
	assert.Contains(t, gears, `"program":"`+program.Version)
	stop()
	require.NoError(t, <-ended)
	assert.Empty(t, asked(port, "/livez"), "the port is closed")
}

// "orrery run --view" serves the page and the lines to those who have the token, and the lines
// follow a deletion to the end. When the process is stopped, nothing of it is left.
func TestRunWithTheView(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { // the last one
		await(t, func() bool { return goleak.Find(before) == nil },
			func() string { return goleak.Find(before).Error() })
	})
	kubeconfig := builtIn(t)
	client := clientOf(t, kubeconfig)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	recording := filepath.Join(t.TempDir(), "recording")
	code, _, _ := orrery(t, "run", "--kubeconfig", kubeconfig, "--view", "--view-port", port, "--record", recording)
	assert.Equal(t, 1, code)
	assertEnds(t, recording, "in use by another program", "a recording without its page ends with the reason")
	var stdout, stderr clustertest.Buffer
	stop, ended := startProgram(t, &stdout, &stderr, "run", "--kubeconfig", kubeconfig, "--leader-elect=false",
		"--allow-second-controller", "--namespace-deletion-grace-period=0", "--metrics-port=0", "--view", "--no-open",
		"--record", recording)
	said := func() string { return stdout.String() + stderr.String() }
	printed := regexp.MustCompile(`The view: (http://\S+/)\?(\S+)`)
	await(t, func() bool { return printed.MatchString(stdout.String()) }, said)
	address := printed.FindStringSubmatch(stdout.String())

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	get := func(path, query string) *http.Response {
		response, err := (&http.Client{Transport: transport}).Get(address[1] + path + "?" + query)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	assert.Equal(t, 200, get("", address[2]).StatusCode)
	assert.Equal(t, 403, get("trace", "").StatusCode)
	lines := get("trace", address[2])
	require.Equal(t, 200, lines.StatusCode)

	deleteNamespace(t, client, "shop")
	seen := map[string]bool{}
	var last string
	text := bufio.NewReader(lines.Body)
	for last != "trace.end" {
		line, err := text.ReadBytes('\n')
		require.NoError(t, err, "the lines end with %q", last)
		var event struct {
			E, K string
		}
		require.NoError(t, json.Unmarshal(line, &event), "%s", line)
		if last = event.E; event.K == "shop" {
			seen[last] = true
		}
		if last == "nsctl.gone" {
			assert.Equal(t, "shop", event.K)
			stop() // as Ctrl-C does
		}
	}
	for _, name := range []string{"deltafifo.popped", "queue.got", "nsctl.passStarted", "nsctl.finalized",
		"nsctl.gone"} {
		assert.True(t, seen[name], "%s of the namespace", name)
	}
	require.NoError(t, <-ended, said())
	assertEnds(t, recording, "the process has stopped", "the recording ends with the process")
}

// assertEnds asserts that the last line of a recording says why it ends.
func assertEnds(t *testing.T, recording, reason, message string) {
	t.Helper()
	text, err := os.ReadFile(recording)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	assert.Regexp(t, `"trace.end".*`+reason, lines[len(lines)-1], message)
}

// statusOf runs "orrery status" and returns its JSON output.
func statusOf(t *testing.T, args ...string) (code int, report cluster.Status) {
	t.Helper()
	code, stdout, stderr := orrery(t, append([]string{"status", "-o", "json"}, args...)...)
	require.Empty(t, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &report), stdout)
	return code, report
}

func TestStatus(t *testing.T) {
	path := builtIn(t)
	code, report := statusOf(t, "--kubeconfig", path)
	assert.Equal(t, 1, code)
	assert.Equal(t, []string{"no leader: there is no Lease kube-system/orrery"}, report.Problems)

	leader := startReplica(t, path)
	leader.await("controller started")
	deleteNamespace(t, clientOf(t, path), "team-a", "example.com/hold")
	code, report = statusOf(t, "--kubeconfig", path)
	assert.Zero(t, code, "the age of a deletion is no verdict")
	assert.Empty(t, report.Problems)
	assert.Equal(t, "kube-system/orrery", report.Leader.Lease)
	assert.Equal(t, leaseOf(t, path).Spec.HolderIdentity, report.Leader.Holder)
	assert.True(t, leaseOf(t, path).Spec.AcquireTime.Equal(*report.Leader.Since))
	require.Len(t, report.Namespaces, 1)
	assert.Equal(t, "team-a", report.Namespaces[0].Name)
	leader.end()
}

// "orrery status" logs what "orrery run" logs about its connection, and never on standard output.
func TestStatusSaysWhatTheConnectionIs(t *testing.T) {
	url := serveTLS(t, forbidden)
	code, stdout, stderr := orrery(t, "status", "-o", "json", "--kubeconfig", writeTLSKubeconfig(t, url, "{}"))
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "WARN  the connection is not safe")
	assert.Contains(t, lastLine(stderr), "orrery: reading the status at "+url)
}
