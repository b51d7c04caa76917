package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"orrery/internal/lab/bench"
	"orrery/upstream/controlplane"
)

// A replica's limits. A controller with a dozen namespaces needs a fraction; a leak with each fault
// soon exceeds them.
const (
	mostMemory      = 128 << 20
	mostGoroutines  = 400
	mostDescriptors = 100
	// mostShutdown bounds the time from SIGTERM to the end: --shutdown-timeout and some more.
	mostShutdown = 30 * time.Second
)

// replica is a process of "orrery run", which restarts when it ends, as under a kubelet.
type replica struct {
	name    string
	program string
	args    []string
	log     string // file
	port    int    // of its debug server
	record  func(format string, args ...any)

	// handling is held while a fault kills, stops or starts the process.
	handling sync.Mutex

	mu         sync.Mutex // guards the fields below
	process    *controlplane.Process
	starts     int
	started    time.Time // the last start
	resigned   int       // times that it ended after losing the Lease
	giveUps    int       // failed starts during faults
	violations []string
	ended      bool // must not restart

	supervisors sync.WaitGroup
}

// newReplica returns a new replica, not started.
func newReplica(program, name, kubeconfig, logFile string, record func(string, ...any), args ...string) (*replica, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	return &replica{
		name: name, program: program, log: logFile, port: port, record: record,
		args: append([]string{"run", "--kubeconfig=" + kubeconfig, "--log-format=json", "-v1", "--metrics-port=" + strconv.Itoa(port), "--profiling"}, args...),
	}, nil
}

// start starts the process unless it runs.
func (p *replica) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.runningLocked() {
		return nil
	}
	process, err := controlplane.StartProcess(controlplane.ProcessConfig{Name: p.name, Path: p.program, Args: p.args, LogFile: p.log})
	if err != nil {
		return err
	}
	p.process = process
	p.starts++
	p.started = time.Now()
	began := p.logSize()
	p.supervisors.Go(func() { p.supervise(process, began) })
	return nil
}

func (p *replica) runningLocked() bool {
	if p.process == nil {
		return false
	}
	select {
	case <-p.process.Done():
		return false
	default:
		return true
	}
}

func (p *replica) running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runningLocked()
}

// current returns the process, which may have ended; nil before the first start.
func (p *replica) current() *controlplane.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

// supervise waits for a process to end. After an unexpected end with a reason (it could not start,
// or lost its Lease) it restarts the process. Any other end is a violation.
func (p *replica) supervise(process *controlplane.Process, began int64) {
	<-process.Done()
	if process.Err() == nil {
		return // a caller requested the end and checks it
	}
	printed := p.logFrom(began)
	p.mu.Lock()
	switch code := process.ExitCode(); {
	case code == 1 && !bytes.Contains(printed, []byte(`"controller started"`)):
		p.giveUps++
	case code == 1 && bytes.Contains(printed, []byte(lostLeadership)):
		p.resigned++
	default:
		p.violations = append(p.violations, fmt.Sprintf("%s ended by itself: %v", p.name, process.Err()))
	}
	p.mu.Unlock()
	p.record("%s ended with %d: %s", p.name, process.ExitCode(), lastLine(printed))
	time.Sleep(restartPause)
	if err := p.start(); err != nil {
		p.violate("%s cannot be started: %v", p.name, err)
	}
}

// restartPause is the delay of a restart.
const restartPause = time.Second

func lastLine(text []byte) []byte {
	text = bytes.TrimRight(text, "\n")
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

func (p *replica) violate(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.violations = append(p.violations, fmt.Sprintf(format, args...))
}

// kill kills the process, as a crash does.
func (p *replica) kill() {
	if process := p.current(); process != nil {
		process.Kill()
	}
}

// infancy is how long after its start a process may not handle signals yet.
const infancy = 2 * time.Second

func (p *replica) startedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// terminate sends SIGTERM and waits. Whatever its server does, the process must end in time and
// with success, unless it could not start or lost its Lease at the same time.
func (p *replica) terminate(ctx context.Context) {
	process := p.current()
	if process == nil || process.Err() != nil {
		return
	}
	select {
	case <-process.Done():
		return
	default:
	}
	young := time.Since(p.startedAt()) < infancy
	process.Signal(syscall.SIGTERM)
	select {
	case <-process.Done():
		// A process that has just begun does not handle signals yet, so the first one kills it.
		if code := process.ExitCode(); code != 0 && code != 1 && !young {
			p.violate("%s was terminated and ended with %d:\n%s", p.name, code, process.Tail())
		}
	case <-ctx.Done():
	case <-time.After(mostShutdown):
		p.violate("%s was terminated and runs on after %v:\n%s\n%s", p.name, mostShutdown, process.Tail(), p.goroutines())
		process.Kill()
	}
}

// freeze pauses the process, as when a machine is suspended.
func (p *replica) freeze(ctx context.Context, d time.Duration) {
	process := p.current()
	if process == nil || !p.running() {
		return
	}
	// After process.Signal the end would count as requested.
	if syscall.Kill(process.PID(), syscall.SIGSTOP) != nil {
		return
	}
	pause(ctx, d)
	_ = syscall.Kill(process.PID(), syscall.SIGCONT)
}

// end terminates the replica without a restart.
func (p *replica) end(ctx context.Context) {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.terminate(ctx)
	p.abandon()
}

// abandon kills the replica without a restart.
func (p *replica) abandon() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.kill()
	p.supervisors.Wait()
}

// healthy returns what is wrong with a replica that should run and be idle.
func (p *replica) healthy() []string {
	if !p.running() {
		return []string{p.name + " does not run"}
	}
	var found []string
	takes := p.usage()
	if takes.memory > mostMemory {
		found = append(found, fmt.Sprintf("%s takes %d MB of memory", p.name, takes.memory>>20))
	}
	if takes.files > mostDescriptors {
		found = append(found, fmt.Sprintf("%s has %d open files", p.name, takes.files))
	}
	if err := p.ready(context.Background()); err != nil {
		found = append(found, err.Error())
	}
	if takes.goroutines == 0 || takes.goroutines > mostGoroutines {
		found = append(found, fmt.Sprintf("%s has %d goroutines:\n%s", p.name, takes.goroutines, p.goroutines()))
	}
	return found
}

// usage returns the resources of the process.
func (p *replica) usage() usage {
	pid := p.current().PID()
	memory, _ := bench.ResidentMemoryOf(pid)
	u := usage{memory: int64(memory), goroutines: goroutineCount(p.goroutines())}
	if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
		u.files = len(entries)
	}
	return u
}

// ready returns nil when the replica's stores are filled. A standby is ready as well.
func (p *replica) ready(context.Context) error {
	if p.served("/readyz") == "" {
		return fmt.Errorf("%s is not ready", p.name)
	}
	return nil
}

// goroutines returns the stacks of the process.
func (p *replica) goroutines() string { return p.served("/debug/pprof/goroutine?debug=1") }

// metric returns the sum of a metric over its labels.
func (p *replica) metric(name string) (sum float64, found bool) {
	return sumOf(p.served("/metrics"), name)
}

// sumOf adds up a metric in Prometheus' text format.
func sumOf(text, name string) (sum float64, found bool) {
	for line := range strings.Lines(text) {
		rest, ours := strings.CutPrefix(line, name)
		if !ours || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' '):]), 64); err == nil {
			sum, found = sum+value, true
		}
	}
	return sum, found
}

// served returns a page of the replica, or "" if it does not answer with success.
func (p *replica) served(path string) string {
	client := &http.Client{Timeout: requestTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", p.port, path))
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}

// goroutineCount parses the first line of a profile, "goroutine profile: total 42".
func goroutineCount(profile string) int {
	line, _, _ := strings.Cut(profile, "\n")
	count, _ := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
	return count
}

// logSize returns the length of the log.
func (p *replica) logSize() int64 {
	info, err := os.Stat(p.log)
	if err != nil {
		return 0
	}
	return info.Size()
}

// logFrom returns the log from an offset.
func (p *replica) logFrom(offset int64) []byte {
	file, err := os.Open(p.log)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.NewSectionReader(file, offset, 1<<30))
	return text
}

// faults returns what was wrong at any time: unexpected ends, and log lines that faults of others
// do not explain. Those are warnings; an error is a fault of the controller.
func (p *replica) faults() []string {
	p.mu.Lock()
	found := append([]string(nil), p.violations...)
	p.mu.Unlock()
	lines := bufio.NewScanner(bytes.NewReader(p.logFrom(0)))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if line := lines.Text(); isWrong(line) && len(found) < mostViolations {
			found = append(found, fmt.Sprintf("%s says: %s", p.name, line))
		}
	}
	return found
}

// lostLeadership is the error of a replica that could not renew its Lease in time and ends, as it
// must.
const lostLeadership = "lost leadership"

// runFailed is the message of the last line of a run that failed. Why it failed is judged when the
// process ends.
const runFailed = "the run has failed"

// wrong are parts of lines that the Go runtime prints when a program breaks.
var wrong = []string{"panic", "fatal error", "DATA RACE", "goroutine "}

func isWrong(line string) bool {
	var entry struct{ Level, Message string }
	if json.Unmarshal([]byte(line), &entry) == nil {
		explained := strings.Contains(entry.Message, lostLeadership) || entry.Message == runFailed
		return entry.Level == "error" && !explained || entry.Level == "fatal" || entry.Level == "panic" || strings.Contains(entry.Message, "panic")
	}
	for _, part := range wrong {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// usage is a process's use of resources. Zero is unknown.
type usage struct {
	memory     int64 // resident, in bytes
	goroutines int
	files      int // open
}

func (u usage) String() string {
	return fmt.Sprintf("%d MB, %d goroutines, %d files", u.memory>>20, u.goroutines, u.files)
}
