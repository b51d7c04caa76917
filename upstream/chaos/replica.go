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

// What a replica may take. A controller with a dozen namespaces needs a fraction of it; what leaks with each fault does
// not stay below for long.
const (
	mostMemory      = 128 << 20
	mostGoroutines  = 400
	mostDescriptors = 100
	// mostPatience is how long a replica may take to end after SIGTERM: --shutdown-timeout, and what comes after it.
	mostPatience = 30 * time.Second
)

// replica is a process of "orrery run", started again whenever it ends, as the kubelet would.
type replica struct {
	name    string
	program string
	args    []string
	log     string // file
	port    int    // where it can be looked into
	note    func(format string, args ...any)

	// handling is held while a fault kills, stops or starts the process.
	handling sync.Mutex

	mu         sync.Mutex // guards the fields below
	process    *controlplane.Process
	starts     int
	started    time.Time // the last of them
	resigned   int       // times that it ended because it was not the leader any more
	giveUps    int       // times that it could not start among faults
	violations []string
	ended      bool // nobody is to start it again

	supervisors sync.WaitGroup
}

// newReplica prepares a replica. It does not start it.
func newReplica(program, name, kubeconfig, logFile string, note func(string, ...any), args ...string) (*replica, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	return &replica{
		name: name, program: program, log: logFile, port: port, note: note,
		args: append([]string{"run", "--kubeconfig=" + kubeconfig, "--log-format=json", "-v1", "--metrics-port=" + strconv.Itoa(port), "--profiling"}, args...),
	}, nil
}

// start starts the process, unless it runs.
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

// current is the process, which may have ended; nil before the first start.
func (p *replica) current() *controlplane.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

// supervise waits for the end of a process. One that nobody asked to end is started again when it had a reason: it could
// not begin, or it is not the leader any more. Otherwise that is a violation.
func (p *replica) supervise(process *controlplane.Process, began int64) {
	<-process.Done()
	if process.Err() == nil {
		return // somebody asked for it, and looks at the rest
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
	p.note("%s ended with %d: %s", p.name, process.ExitCode(), lastLine(printed))
	time.Sleep(restartPause)
	if err := p.start(); err != nil {
		p.violate("%s cannot be started: %v", p.name, err)
	}
}

// restartPause is how long a replica that ended stays away.
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

// kill ends the process as a crash does.
func (p *replica) kill() {
	if process := p.current(); process != nil {
		process.Kill()
	}
}

// infancy is how long after its start a process may not listen to signals yet.
const infancy = 2 * time.Second

func (p *replica) startedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// terminate asks the process to end, and waits until it has. Whatever is wrong with its server, it has to end in time and
// with success, unless it could not start or lost its leadership at the same time.
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
		// A process that has hardly begun does not listen to signals yet, and is ended by the first one.
		if code := process.ExitCode(); code != 0 && code != 1 && !young {
			p.violate("%s was terminated and ended with %d:\n%s", p.name, code, process.Tail())
		}
	case <-ctx.Done():
	case <-time.After(mostPatience):
		p.violate("%s was terminated and runs on after %v:\n%s\n%s", p.name, mostPatience, process.Tail(), p.goroutines())
		process.Kill()
	}
}

// freeze stops the process for a while, as a machine that is suspended does.
func (p *replica) freeze(ctx context.Context, d time.Duration) {
	process := p.current()
	if process == nil || !p.running() {
		return
	}
	// Not by process.Signal, which would take the end of the process for asked for from then on.
	if syscall.Kill(process.PID(), syscall.SIGSTOP) != nil {
		return
	}
	pause(ctx, d)
	_ = syscall.Kill(process.PID(), syscall.SIGCONT)
}

// end terminates the replica for good.
func (p *replica) end(ctx context.Context) {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.terminate(ctx)
	p.abandon()
}

// abandon ends the replica at once and for good.
func (p *replica) abandon() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.kill()
	p.supervisors.Wait()
}

// healthy describes what is wrong with a replica that ought to run and be at rest.
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

// usage is what the process takes.
func (p *replica) usage() usage {
	pid := p.current().PID()
	memory, _ := bench.ResidentMemoryOf(pid)
	u := usage{memory: int64(memory), goroutines: goroutineCount(p.goroutines())}
	if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
		u.files = len(entries)
	}
	return u
}

// ready is nil when the replica's stores are filled. One that stands by is ready as well.
func (p *replica) ready(context.Context) error {
	if p.served("/readyz") == "" {
		return fmt.Errorf("%s is not ready", p.name)
	}
	return nil
}

// goroutines asks the process for its stacks.
func (p *replica) goroutines() string { return p.served("/debug/pprof/goroutine?debug=1") }

// metric reads the sum of a metric over its labels.
func (p *replica) metric(name string) (sum float64, found bool) {
	return sumOf(p.served("/metrics"), name)
}

// sumOf reads what Prometheus reads.
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

// served asks the replica for something that it serves; "" when it does not answer with success.
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

// goroutineCount reads the first line of a profile, "goroutine profile: total 42".
func goroutineCount(profile string) int {
	line, _, _ := strings.Cut(profile, "\n")
	count, _ := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
	return count
}

// logSize is how much the replica has printed.
func (p *replica) logSize() int64 {
	info, err := os.Stat(p.log)
	if err != nil {
		return 0
	}
	return info.Size()
}

// logFrom is what the replica has printed since.
func (p *replica) logFrom(offset int64) []byte {
	file, err := os.Open(p.log)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.NewSectionReader(file, offset, 1<<30))
	return text
}

// faults describes what was wrong at any time: the process ended, or its log says something that a controller does not say
// because others have faults. Warnings are for those; an error is for what is wrong with the controller itself.
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

// lostLeadership is what a replica says, as an error, that could not renew its Lease in time. It ends, as it must.
const lostLeadership = "lost leadership"

// wrong are parts of lines that the runtime of Go prints when a program breaks.
var wrong = []string{"panic", "fatal error", "DATA RACE", "goroutine "}

func isWrong(line string) bool {
	var entry struct{ Level, Message string }
	if json.Unmarshal([]byte(line), &entry) == nil {
		return entry.Level == "error" && !strings.Contains(entry.Message, lostLeadership) || entry.Level == "fatal" || entry.Level == "panic" || strings.Contains(entry.Message, "panic")
	}
	for _, part := range wrong {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}
