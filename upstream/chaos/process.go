package main

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
	"syscall"
	"time"

	"orrery/upstream/controlplane"
)

// limits are the most that some of orrery's metrics may show while it is idle. A dozen namespaces
// need a fraction; a leak with each request soon exceeds them.
var limits = map[string]float64{"go_goroutines": 200, "process_open_fds": 50}

// longestShutdown bounds the time from SIGTERM to the end: --shutdown-timeout and some more.
const longestShutdown = 30 * time.Second

// process is a process of "orrery run" that can be started again.
type process struct {
	program string
	args    []string
	log     string // file
	port    int    // of its debug server

	running *controlplane.Process
}

// newProcess returns a new process, not started.
func newProcess(program, kubeconfig, logFile string) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	return &process{program: program, log: logFile, port: port, args: []string{
		"run", "--leader-elect=false", "--log-format=json", "-v1",
		"--kubeconfig=" + kubeconfig, "--metrics-port=" + strconv.Itoa(port),
	}}, nil
}

// start starts the process, which must not run.
func (p *process) start() (err error) {
	config := controlplane.ProcessConfig{Name: "orrery", Path: p.program, Args: p.args, LogFile: p.log}
	p.running, err = controlplane.StartProcess(config)
	return err
}

// kill kills the process, as a crash does.
func (p *process) kill() {
	if p.running != nil {
		p.running.Kill()
	}
}

// terminate sends SIGTERM and waits. The process must end in time and with success.
func (p *process) terminate(ctx context.Context) error {
	p.running.Signal(syscall.SIGTERM)
	select {
	case <-p.running.Done():
		if code := p.running.ExitCode(); code != 0 {
			return fmt.Errorf("orrery was terminated and ended with %d:\n%s", code, p.running.Tail())
		}
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(longestShutdown):
		return fmt.Errorf("orrery was terminated and runs on after %v:\n%s", longestShutdown, p.running.Tail())
	}
	return nil
}

// unhealthy returns what is wrong with a process that should be idle.
func (p *process) unhealthy(context.Context) (found []string, err error) {
	if _, err := p.served("/readyz"); err != nil {
		return nil, err
	}
	metrics, err := p.served("/metrics")
	if err != nil {
		return nil, err
	}
	for name, most := range limits {
		if value, shown := valueOf(metrics, name); !shown || value > most {
			found = append(found, fmt.Sprintf("orrery has %s %v, at most %v are allowed", name, value, most))
		}
	}
	return found, nil
}

// valueOf returns a metric without labels from Prometheus' text format.
func valueOf(metrics, name string) (value float64, shown bool) {
	for line := range strings.Lines(metrics) {
		if text, ours := strings.CutPrefix(line, name+" "); ours {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			return value, err == nil
		}
	}
	return 0, false
}

// served returns a page of the process.
func (p *process) served(path string) (string, error) {
	client := &http.Client{Timeout: requestTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", p.port, path))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("orrery answers %s with %s: %s", path, answer.Status, text)
	}
	return string(text), err
}

// faults returns what cannot become right: an end that nobody requested, and log lines that the
// steps do not explain. Those are warnings; an error is a fault of the controller.
func (p *process) faults() (found []string) {
	if err := p.running.Err(); err != nil {
		found = append(found, fmt.Sprintf("orrery ended by itself: %v", err))
	}
	text, err := os.ReadFile(p.log)
	if err != nil {
		return append(found, err.Error())
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if isWrong(lines.Text()) {
			found = append(found, "orrery logs: "+lines.Text())
		}
	}
	return found
}

// wrong are parts of lines that the Go runtime prints when a program breaks.
var wrong = []string{"panic", "fatal error", "DATA RACE", "goroutine "}

func isWrong(line string) bool {
	var entry struct{ Level, Message string }
	if json.Unmarshal([]byte(line), &entry) == nil {
		severe := entry.Level == "error" || entry.Level == "fatal" || entry.Level == "panic"
		return severe || strings.Contains(entry.Message, "panic")
	}
	for _, part := range wrong {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}
