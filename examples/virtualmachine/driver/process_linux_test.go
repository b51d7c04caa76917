package driver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine/driver"
)

// state is the content of a server's file.
type state struct {
	Request driver.CreateRequest
	Boot    string
	PID     int
	Start   uint64
}

// processes is a process driver in a directory of the test. At the end no process is left.
type processes struct {
	driver.Interface
	t   *testing.T
	dir string
}

func newProcesses(t *testing.T, command ...string) *processes {
	p := &processes{t: t, dir: t.TempDir()}
	if len(command) == 0 {
		command = []string{"sleep", "600"}
	}
	p.again(command...)
	t.Cleanup(func() { assert.Empty(t, p.left(), "processes are left") })
	return p
}

// again returns a new driver for the directory, as the next run of the program does.
func (p *processes) again(command ...string) {
	d, err := driver.NewProcess(p.dir, command)
	require.NoError(p.t, err)
	p.Interface = d
}

func (p *processes) state(name string) (s state) {
	text, err := os.ReadFile(filepath.Join(p.dir, name+".json"))
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(text, &s))
	return s
}

func (p *processes) setState(name string, s state) {
	text, err := json.Marshal(s)
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name+".json"), text, 0o600))
}

// left returns the PIDs of all running processes started by drivers of the directory.
func (p *processes) left() (pids []int) {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(p.t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), "ORRERY_SERVER="+p.dir+"/") {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			require.NoError(p.t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits for an effect in another process; only a failure reaches the limit.
func (p *processes) eventually(holds func() bool) {
	p.t.Helper()
	require.Eventually(p.t, holds, time.Minute, time.Millisecond)
}

func TestProcesses(t *testing.T) {
	p := newProcesses(t)
	contract(t, p, func(name string) { require.NoError(t, syscall.Kill(p.state(name).PID, syscall.SIGKILL)) })
	files, err := os.ReadDir(p.dir)
	require.NoError(t, err)
	assert.Empty(t, files, "nothing is left in the directory")
}

func TestAnotherRunFindsTheProcessAgain(t *testing.T) {
	p := newProcesses(t)
	require.NoError(t, p.CreateServer(t.Context(), request("a")))
	before := p.state("a")
	for name, forget := range map[string]func(){
		"in good order":                     func() {},
		"killed before it wrote the PID":    func() { p.setState("a", state{Request: before.Request, Boot: before.Boot}) },
		"killed again, and found once more": func() { p.setState("a", state{Request: before.Request, Boot: before.Boot}) },
	} {
		forget()
		p.again("sleep", "600")
		require.NoError(t, p.CreateServer(t.Context(), request("a")), name)
		assert.Equal(t, before, p.state("a"), name)
		assert.Equal(t, []int{before.PID}, p.left(), name)
	}
	p.setState("a", state{Request: before.Request, Boot: before.Boot})
	p.again("sleep", "600")
	require.NoError(t, p.DeleteServer(t.Context(), "a"))
}

// A PID that is reused, or from before a reboot, is not the server's. A program that is killed
// before it has started the process leaves only a file.
func TestThePIDOfAnother(t *testing.T) {
	p := newProcesses(t)
	require.NoError(t, p.CreateServer(t.Context(), request("b")))
	other := p.state("b")
	boot := other.Boot
	for name, s := range map[string]state{
		"used again":   {Request: request("a"), Boot: boot, PID: os.Getpid(), Start: 1},
		"another boot": {Request: request("a"), Boot: "another", PID: other.PID, Start: other.Start},
		"no process":   {Request: request("a"), Boot: boot, PID: 1 << 30, Start: 1},
		"not started":  {Request: request("a"), Boot: boot},
	} {
		p.setState("a", s)
		status, err := p.GetServerStatus(t.Context(), "a")
		require.NoError(t, err, name)
		assert.Equal(t, driver.Status{State: driver.Ended, Reason: "its process has ended"}, status, name)
		exists, err := p.IsServerExist(t.Context(), "a")
		require.NoError(t, err, name)
		assert.False(t, exists, name)
		require.NoError(t, p.CreateServer(t.Context(), request("a")), name)
		assert.Len(t, p.left(), 2, name)
		require.NoError(t, p.DeleteServer(t.Context(), "a"), name) // and this process survives
	}
	assert.Equal(t, []int{other.PID}, p.left(), "that of the other server as well")
	require.NoError(t, p.DeleteServer(t.Context(), "b"))
}

// All processes of a server end with it, including those that outlive the first one.
func TestProcessesOfProcesses(t *testing.T) {
	p := newProcesses(t, "sh", "-c", "sleep 600 & sleep 600 & wait")
	require.NoError(t, p.CreateServer(t.Context(), request("a")))
	p.eventually(func() bool { return len(p.left()) == 3 })
	require.NoError(t, p.DeleteServer(t.Context(), "a"))
	assert.Empty(t, p.left())

	require.NoError(t, p.CreateServer(t.Context(), request("a")))
	p.eventually(func() bool { return len(p.left()) == 3 })
	require.NoError(t, syscall.Kill(p.state("a").PID, syscall.SIGKILL))
	p.eventually(func() bool { return len(p.left()) == 2 })
	require.NoError(t, p.DeleteServer(t.Context(), "a"))
}

func TestAProcessThatDoesNotWantToEnd(t *testing.T) {
	p := newProcesses(t, "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
	require.NoError(t, p.CreateServer(t.Context(), request("a")))
	p.eventually(func() bool { // until the signal is ignored
		text, err := os.ReadFile("/proc/" + strconv.Itoa(p.state("a").PID) + "/status")
		require.NoError(t, err)
		_, mask, found := strings.Cut(string(text), "SigIgn:")
		require.True(t, found)
		ignored, err := strconv.ParseUint(strings.Fields(mask)[0], 16, 64)
		require.NoError(t, err)
		return ignored&(1<<(syscall.SIGTERM-1)) != 0
	})
	require.NoError(t, p.DeleteServer(t.Context(), "a"))
}

func TestTheShareOfTheCPU(t *testing.T) {
	p := newProcesses(t, "sh", "-c", "while :; do :; done")
	require.NoError(t, p.CreateServer(t.Context(), request("a")))
	p.eventually(func() bool {
		status, err := p.GetServerStatus(t.Context(), "a")
		require.NoError(t, err)
		return status.CPUPercentage > 0
	})
	require.NoError(t, p.DeleteServer(t.Context(), "a"))
}

func TestWhatIsLargerThanTheMachineIsRefused(t *testing.T) {
	p := newProcesses(t)
	for _, large := range []driver.CreateRequest{
		{Name: "a", CPU: 1 << 40, Memory: 1}, {Name: "a", CPU: 1, Memory: 1 << 60},
	} {
		var refused *driver.RefusedError
		require.ErrorAs(t, p.CreateServer(t.Context(), large), &refused)
		assert.Contains(t, refused.Error(), "were asked for, and there are")
	}
}

// A file that cannot be read or written is an error, and no server is started or considered gone.
func TestAStateThatCannotBeUsed(t *testing.T) {
	p := newProcesses(t)
	file := filepath.Join(p.dir, "a.json")
	require.NoError(t, os.WriteFile(file, []byte("no JSON"), 0o600))
	for name, err := range calls(t.Context(), p) {
		assert.ErrorContains(t, err, "the state of the server", name)
	}
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Mkdir(file+".new", 0o700))
	assert.Error(t, p.CreateServer(t.Context(), request("a")))
	require.NoError(t, os.Remove(file+".new"))
	p.again("/bin/sleep", "600")
	require.NoError(t, p.CreateServer(t.Context(), request("a")))
	require.NoError(t, p.DeleteServer(t.Context(), "a"))
}
