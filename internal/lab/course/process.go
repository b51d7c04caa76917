package course

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"

	"orrery/internal/observe/trace"
)

// process is a running program: "orrery run", or another one.
type process struct {
	command *exec.Cmd
	log     *os.File
	// address is where "orrery run" serves its metrics and the state of its gears.
	address string
	ended   chan struct{} // closed when the process has ended
	err     error         // of the process; to be read after ended
}

// startController starts "orrery run" against the server. With a trace it serves its own, at a free
// port: the page is that of lab.
func (p *player) startController() error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(address)
	arguments := append([]string{
		"run", "--kubeconfig", p.kubeconfig, "--leader-elect=false", "--metrics-port", port,
		"--shutdown-timeout", stopLimit.String(), "--gears", p.Run.GearSet(),
	}, p.Run.Args...)
	if p.Trace != nil {
		arguments = append(arguments, "--view", "--no-open")
	}
	p.process, err = startProcess(exec.Command(p.Program, arguments...), p.Log)
	if err == nil {
		p.process.address = "http://" + address
	}
	return err
}

// startProcess starts a program that appends its output to a file.
func startProcess(command *exec.Cmd, logFile string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	p := &process{command: command, log: log, ended: make(chan struct{})}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		log.Close()
		return nil, err
	}
	go func() {
		p.err = command.Wait()
		log.Close()
		close(p.ended)
	}()
	return p, nil
}

// freeAddress returns a loopback address with a free port. Another program can take it in the
// meantime; the controller then says so.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// errEnded reports that the controller has ended by itself.
var errEnded = errors.New("the controller has ended")

// until calls try every 50 ms until it returns true. It returns errEnded if a running process ends,
// and errTooLong after the limit.
func (p *player) until(ctx context.Context, limit time.Duration, try func() (bool, error)) error {
	over := time.After(limit)
	var ended chan struct{}
	if p.process != nil {
		ended = p.process.ended
	}
	for {
		if ok, err := try(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return errEnded
		case <-over:
			return errTooLong
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var errTooLong = errors.New("it took too long")

// gears returns the address that shows the state of the gears of "orrery run".
func (p *process) gears() string { return p.address + "/debug/orrery?pretty" }

// ready reports whether the controller works.
func (p *process) ready() (bool, error) {
	answer, err := http.Get(p.address + "/readyz")
	if err != nil {
		return false, nil // it does not listen yet
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK, nil
}

// stopLimit is how long the controller may take to finish its work after the signal.
const stopLimit = 30 * time.Second

// stop ends the process as a supervisor does, and kills it when it does not end. It reports whether
// the controller finished its work.
func (p *process) stop() (finished bool) {
	if p.command.Process.Signal(syscall.SIGTERM) != nil {
		p.command.Process.Kill() // a system without that signal
	}
	select {
	case <-p.ended:
	case <-time.After(stopLimit + 5*time.Second):
		p.command.Process.Kill()
		<-p.ended
		return false
	}
	return p.err == nil
}

// traceAddress is what "orrery run --view" prints.
var traceAddress = regexp.MustCompile(`The view: (http://[^?\s]+)(\S*)`)

// follow passes the trace of a process on until the process has ended. It calls begun once, before
// the first event or at the end. The lines of a process that is killed end in the middle.
func (p *process) follow(logFile string, to *trace.Relay, begun func()) {
	once := sync.OnceFunc(begun)
	defer once()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		text, _ := os.ReadFile(logFile) // it exists, and says nothing yet
		if found := traceAddress.FindSubmatch(text); found != nil {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			answer, err := (&http.Client{Transport: transport}).Get(string(found[1]) + "trace" + string(found[2]))
			if err == nil {
				defer answer.Body.Close()
				_ = to.Follow(answer.Body, once)
			}
			<-p.ended
			return
		}
		select {
		case <-look.C:
		case <-p.ended:
			return
		}
	}
}
