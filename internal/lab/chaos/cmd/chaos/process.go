package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"orrery/internal/lab/chaos"
)

// process is this program a second time, as a worker. One goroutine uses it.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    lastWords
}

// lastWords keeps the end of what a process says on standard error.
type lastWords struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const keptWords = 64 << 10

func (l *lastWords) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text.Len() < keptWords { // the beginning of a panic says more than its end
		l.text.Write(data)
	}
	return len(data), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// startProcess starts a worker, with one processor: then a seed plays nearly the same each time, and no two seeds take time from
// each other inside a bubble.
func startProcess(duration time.Duration) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{command: exec.Command(self, "-worker", "-duration", duration.String())}
	p.command.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=800", "GOTRACEBACK=all")
	p.command.Stderr = &p.said
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.command.Start()
}

// play lets the worker play a seed. If it dies of it, or does not come to an end, the report says so and the process is gone.
func (p *process) play(ctx context.Context, seed uint64) (report *chaos.Report, alive bool) {
	late := time.AfterFunc(longest, func() { p.command.Process.Signal(syscall.SIGQUIT) }) // it shows its goroutines and dies
	defer late.Stop()
	stopped := context.AfterFunc(ctx, func() { p.command.Process.Kill() })
	defer stopped()
	_, err := fmt.Fprintln(p.in, seed)
	var line []byte
	if err == nil {
		line, err = p.out.ReadBytes('\n')
	}
	report = &chaos.Report{}
	if err == nil {
		err = json.Unmarshal(line, report)
	}
	if err == nil {
		return report, true
	}
	how := p.end()
	return &chaos.Report{Seed: seed, Failure: &chaos.Failure{
		When: "with the process, which ended or was stopped after " + longest.String(), Storm: chaos.AfterAll,
		Differences: []string{fmt.Sprintf("%v, %v", how, err), p.said.String()},
	}}, false
}

// longest is how long a seed may take, in real time; the usual is a second.
const longest = 5 * time.Minute

// end tells the worker that there is nothing more to do, and waits for it.
func (p *process) end() error {
	p.in.Close()
	return p.command.Wait()
}
