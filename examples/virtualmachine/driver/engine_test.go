package driver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine/driver"
)

// The environment of the fake engine: its directory, the error it returns, and whether it hangs.
const (
	standInDir  = "STAND_IN_DIR"
	standInFail = "STAND_IN_FAIL"
	standInHang = "STAND_IN_HANG"
)

// standIn puts the fake engine into the PATH.
func standIn(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, name)))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(standInDir, dir)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector lets every program wait for a second at its end
	return dir
}

// standInContainer is a container of the fake engine.
type standInContainer struct {
	ID, Name, Label, State, Image string
	Exit                          int
	OOM                           bool
	CPUs                          float64
}

// engine is the fake engine. It returns its exit code.
func engine(arguments []string) int {
	dir := os.Getenv(standInDir)
	log, err := os.OpenFile(filepath.Join(dir, "asked"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(log, strings.Join(arguments, " "))
		log.Close()
	}
	if why := os.Getenv(standInFail); why != "" {
		fmt.Fprintln(os.Stderr, why+"\nSee 'docker --help'.")
		return 1
	}
	if os.Getenv(standInHang) != "" {
		time.Sleep(time.Hour)
	}
	containers := readContainers(dir)
	defer func() { writeContainers(dir, containers) }()
	last := arguments[len(arguments)-1]
	flag := func(name string) string {
		for i, argument := range arguments {
			if argument == name {
				return arguments[i+1]
			}
		}
		return ""
	}
	switch arguments[0] {
	case "ps":
		for _, c := range containers {
			if flag("--filter") == "label="+c.Label {
				fmt.Println(c.ID)
			}
		}
	case "run":
		for _, c := range containers {
			if c.Name == flag("--name") {
				fmt.Fprintf(os.Stderr, "Error response from daemon: Conflict. The container name %q is already in use\n", c.Name)
				return 125
			}
		}
		c := standInContainer{ID: fmt.Sprintf("%064x", time.Now().UnixNano()), Name: flag("--name"), Label: flag("--label"), State: "running", Image: last}
		fmt.Sscan(flag("--cpus"), &c.CPUs)
		containers = append(containers, c)
		fmt.Println(c.ID)
	case "inspect":
		for _, c := range containers {
			if c.ID == last {
				fmt.Println(c.State, c.Exit, c.OOM, int64(c.CPUs*1e9))
			}
		}
	case "stats":
		fmt.Println("1.00% 2.68%")
	case "rm":
		var left []standInContainer
		for _, c := range containers {
			if c.ID != last {
				left = append(left, c)
			}
		}
		containers = left
	case "version":
	default:
		return 125
	}
	return 0
}

func readContainers(dir string) (containers []standInContainer) {
	if text, err := os.ReadFile(filepath.Join(dir, "containers")); err == nil {
		json.Unmarshal(text, &containers)
	}
	return containers
}

func writeContainers(dir string, containers []standInContainer) {
	text, _ := json.Marshal(containers)
	os.WriteFile(filepath.Join(dir, "containers"), text, 0o600)
}

// asked returns the calls of the fake engine.
func asked(t *testing.T, dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "asked"))
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestEngines(t *testing.T) {
	for _, name := range []string{"docker", "podman"} {
		t.Run(name, func(t *testing.T) {
			dir := standIn(t, name)
			d, err := driver.New(name, driver.Options{Image: "example.com/machine:1"})
			require.NoError(t, err)
			contract(t, d, func(name string) {
				containers := readContainers(dir)
				for i := range containers {
					if containers[i].Name == name {
						containers[i].State, containers[i].Exit = "exited", 137
					}
				}
				writeContainers(dir, containers)
			})
			assert.Empty(t, readContainers(dir))
			assert.Contains(t, asked(t, dir), "run --detach --name a --label cloudnative.tw/virtualmachine=a --cpus 0.500 --memory 268435456b example.com/machine:1")
		})
	}
}

func TestWhatAnEngineSaysOfAServer(t *testing.T) {
	dir := standIn(t, "docker")
	d := driver.NewEngine("docker", "image")
	one := standInContainer{ID: "1234", Name: "a", Label: "cloudnative.tw/virtualmachine=a", State: "running", CPUs: 0.5}
	for name, c := range map[string]struct {
		change func(*standInContainer)
		want   driver.Status
	}{
		"running":       {func(*standInContainer) {}, driver.Status{ID: "1234", State: driver.Running, CPUPercentage: 2, MemoryPercentage: 2.68}},
		"paused":        {func(c *standInContainer) { c.State = "paused" }, driver.Status{ID: "1234", State: driver.Running, CPUPercentage: 2, MemoryPercentage: 2.68}},
		"never started": {func(c *standInContainer) { c.State = "created" }, driver.Status{ID: "1234", State: driver.Ended, Reason: "created, exit code 0"}},
		"killed":        {func(c *standInContainer) { c.State, c.Exit = "exited", 137 }, driver.Status{ID: "1234", State: driver.Ended, Reason: "exited, exit code 137"}},
		"out of memory": {func(c *standInContainer) { c.State, c.OOM = "exited", true }, driver.Status{ID: "1234", State: driver.Ended, Reason: "out of memory"}},
	} {
		changed := one
		c.change(&changed)
		writeContainers(dir, []standInContainer{changed})
		status, err := d.GetServerStatus(t.Context(), "a")
		require.NoError(t, err, name)
		assert.Equal(t, c.want, status, name)
	}
}

// A container of another owner is left alone, even if it has the name of a server.
func TestAContainerOfAnother(t *testing.T) {
	dir := standIn(t, "docker")
	d := driver.NewEngine("docker", "image")
	other := []standInContainer{{ID: "1234", Name: "a", State: "running"}}
	writeContainers(dir, other)
	err := d.CreateServer(t.Context(), request("a"))
	assert.ErrorContains(t, err, `docker run: Error response from daemon: Conflict. The container name "a" is already in use (exit status 125)`)
	require.NoError(t, d.DeleteServer(t.Context(), "a"))
	assert.Equal(t, other, readContainers(dir))
}

func TestAnEngineThatDoesNotWork(t *testing.T) {
	standIn(t, "docker")
	d := driver.NewEngine("docker", "image")
	const why = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
	t.Setenv(standInFail, why)
	for name, err := range calls(t.Context(), d) {
		assert.Regexp(t, "^docker (ps|version): "+regexp.QuoteMeta(why)+` \(exit status 1\)$`, err, name)
	}

	t.Setenv(standInFail, "")
	t.Setenv(standInHang, "yes")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(driver.ErrTimeout) })
	for name, err := range calls(ctx, d) {
		assert.ErrorIs(t, err, driver.ErrTimeout, name)
	}
}

// Unexpected engine output is reported, and nothing is guessed.
func TestAnEngineThatPrintsSomethingElse(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	program := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+text), 0o700))
	}
	program("echo hello")
	d := driver.NewEngine("docker", "image")
	_, err := d.GetServerStatus(t.Context(), "a")
	assert.ErrorContains(t, err, `docker inspect printed "hello"`)
	program(`case $1 in ps) echo 1234;; inspect) echo running 0 false 500000000;; *) echo hello;; esac`)
	_, err = d.GetServerStatus(t.Context(), "a")
	assert.ErrorContains(t, err, `docker stats printed "hello"`)
	program(`case $1 in ps) echo 1234;; inspect) echo exited 0 false 500000000;; *) echo no >&2; exit 3;; esac`)
	assert.EqualError(t, d.CreateServer(t.Context(), request("a")), "docker rm: no (exit status 3)")
	program(`case $1 in ps) echo 1234;; inspect) echo running 0 false 500000000;; *) echo no >&2; exit 3;; esac`)
	_, err = d.GetServerStatus(t.Context(), "a")
	assert.EqualError(t, err, "docker stats: no (exit status 3)")
	program(`case $1 in ps) echo 1234;; *) echo no >&2; exit 3;; esac`)
	_, err = d.IsServerExist(t.Context(), "a")
	assert.EqualError(t, err, "docker inspect: no (exit status 3)")
}
