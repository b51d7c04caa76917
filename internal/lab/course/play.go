package course

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/internal/observe/trace"
	"orrery/internal/words"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// PlayConfig says what is run.
type PlayConfig struct {
	Run Run
	// Program is the program that was built with the learner's files.
	Program string
	// Verdicts is the file with the learner's verdicts, for the action stuck. Passed reports that the
	// lab's tests have passed with it.
	Verdicts string
	Passed   bool
	// LimitFactor multiplies every time limit, for a busy machine. 0 means 1.
	LimitFactor int
	// Log is the file for the controller's log.
	Log string
	// Keep, if not nil, is called when the script has ended, with the kubeconfig of the server and the
	// address of the controller's gears. Then both run until the context or the controller ends. The
	// outcome stays that of the script.
	Keep func(kubeconfig, gears string)
	// Trace, if not nil, follows the controller's gears to the end. Begun is called when its first
	// event can be shown, or when the controller has ended before that.
	Trace *trace.Relay
	Begun func()
	Out   io.Writer
	Lang  words.Lang
}

// Outcome is how it ended.
type Outcome struct {
	// OK reports that everything the script asks for has happened.
	OK bool
	// Crashed reports that the controller ended by itself. Output has its log.
	Crashed bool
	Output  string
}

// player plays a script.
type player struct {
	PlayConfig
	server  *apiserver.Server
	client  *restclient.Client
	process *process // nil while no program runs
	began   time.Time
	// filled has what was created under each prefix.
	filled map[string]Fill
	// machines are the names of the VirtualMachines that the script created, by their servers' names.
	machines map[string]string
	// world is where the situations of lab 13 are set up; situation is the present one, or nil.
	world     *causes.World
	situation *causes.Fixture
	// kubeconfig is that of the server's administrator. state is the folder $STATE.
	kubeconfig, state string
}

// Play plays the script of a lab.
func Play(ctx context.Context, config PlayConfig) (Outcome, error) {
	p := &player{
		PlayConfig: config, began: time.Now(), filled: map[string]Fill{}, machines: map[string]string{},
	}
	dir, err := os.MkdirTemp("", "orrery-lab-")
	if err != nil {
		return Outcome{}, err
	}
	defer os.RemoveAll(dir)
	p.kubeconfig, p.state = filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "state")
	if err := p.startServer(ctx); err != nil {
		return Outcome{}, err
	}
	defer p.server.Stop(context.Background())
	defer p.client.Close()
	ctx, cancel := context.WithCancel(ctx)
	p.world = causes.NewWorld(ctx, p.client)
	defer func() {
		cancel()
		p.world.Wait()
	}()
	return p.control(ctx)
}

// WholeRun returns a run for the whole runtime: full namespaces are deleted.
func WholeRun() Run {
	return Run{
		Args: []string{"--concurrent-namespace-syncs=10", "--namespace-deletion-grace-period=0s"},
		Script: []Action{
			{Say: Message("run-whole-fill"), Fill: &Fill{Prefix: "team", Namespaces: 20, Objects: 6}},
			{Say: Message("run-whole-delete"), Delete: "team"},
			{Gone: &Gone{Prefix: "team", Within: time.Minute}},
		},
	}
}

// control starts the controller, plays the actions, and stops it.
func (p *player) control(ctx context.Context) (Outcome, error) {
	err := os.WriteFile(p.Log, nil, 0o644)
	if err != nil {
		return Outcome{}, err
	}
	if p.Run.Program == "" {
		if err := p.startController(); err != nil {
			return Outcome{}, err
		}
		if p.Trace != nil {
			begun, followed := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(followed)
				p.process.follow(p.Log, p.Trace, func() { p.Begun(); close(begun) })
			}()
			defer func() { <-followed }() // it ends with the process
			select {
			case <-begun: // the script's first request is seen, too
			case <-ctx.Done():
			}
		}
		p.say("run-started", p.Run.GearSet(), p.server.URL())
		p.say("run-gears", p.process.gears())
		if p.Keep == nil {
			p.say("run-gears-end")
		}
	}
	err = p.play(ctx)
	kept := p.Keep != nil && p.process != nil && (err == nil || errors.Is(err, errOutcome))
	if kept {
		p.Keep(p.kubeconfig, p.process.gears())
		select {
		case <-p.process.ended: // a Ctrl-C reaches the controller as well, and is its exit code
			if p.process.command.ProcessState.ExitCode() != program.ExitInterrupted {
				err = errEnded
			}
		case <-ctx.Done():
		}
		ctx = context.WithoutCancel(ctx) // the outcome is known
	}
	if errors.Is(err, errEnded) {
		return Outcome{Crashed: true, Output: p.output()}, nil
	}
	finished := true
	if p.process != nil {
		p.say("run-stops", stopLimit.Seconds())
		finished = p.process.stop() || kept
	}
	if ctx.Err() != nil {
		return Outcome{}, ctx.Err()
	}
	if err == nil && !finished {
		err = p.fail("run-not-finished", stopLimit.Seconds())
	}
	if errors.Is(err, errOutcome) {
		return Outcome{Output: p.output()}, nil
	}
	return Outcome{OK: err == nil, Output: p.output()}, err
}

// output returns what the program logged.
func (p *player) output() string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// errOutcome reports that the outcome is not that of the script. The player has said why.
var errOutcome = errors.New("the outcome is another")

// startServer starts the API server and makes a client of its administrator.
func (p *player) startServer(ctx context.Context) (err error) {
	if p.server, err = apiserver.New(apiserver.Config{TLS: true}); err != nil {
		return err
	}
	if err := p.server.Start(ctx); err != nil {
		return err
	}
	if err := p.server.WriteKubeconfig(p.kubeconfig); err != nil {
		return err
	}
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: p.kubeconfig})
	if err != nil {
		return err
	}
	config.QPS = -1
	p.client, err = restclient.New(config)
	return err
}

// fail says why the outcome is another.
func (p *player) fail(name string, arguments ...any) error {
	p.say(name, arguments...)
	return errOutcome
}

// say prints a line with the time.
func (p *player) say(name string, arguments ...any) { p.line(Say(p.Lang, name, arguments...)) }

func (p *player) line(text string) {
	fmt.Fprintf(p.Out, "  %5.1f s  %s\n", time.Since(p.began).Seconds(), text)
}

// startLimit is how long the controller may take until its store is filled.
const startLimit = 20 * time.Second

// play plays all actions.
func (p *player) play(ctx context.Context) error {
	if p.process != nil {
		err := p.until(ctx, p.limit(startLimit), p.process.ready)
		if errors.Is(err, errTooLong) {
			return p.fail("run-not-ready", p.limit(startLimit).Seconds())
		}
		if err != nil {
			return err
		}
	}
	for _, action := range p.Run.Script {
		if action.Say.Complete() {
			p.line(action.Say.In(p.Lang))
		}
		if err := p.act(ctx, action); err != nil {
			return err
		}
	}
	return nil
}

// limit returns a time limit for this machine.
func (p *player) limit(d time.Duration) time.Duration {
	return d * time.Duration(max(1, p.LimitFactor))
}

// act plays one action.
func (p *player) act(ctx context.Context, a Action) error {
	switch {
	case a.Fill != nil:
		return p.fill(ctx, *a.Fill)
	case a.Touch != nil:
		return p.touch(ctx, *a.Touch)
	case a.Delete != "":
		return p.each(ctx, a.Delete, func(name string) error {
			return p.namespaces().Delete(ctx, name, api.DeleteOptions{})
		})
	case a.Fault != "":
		_, err := p.server.Faults().Add(a.Fault)
		return err
	case a.End != "":
		return p.end(a.End)
	case a.Pause > 0:
		return p.pause(ctx, a.Pause)
	case a.Gone != nil:
		return p.gone(ctx, *a.Gone)
	case a.Metric != nil:
		return p.metric(ctx, *a.Metric)
	case a.Start != nil:
		return p.start(*a.Start)
	case a.Killed > 0:
		return p.killed(ctx, a.Killed)
	case a.CreateMachine != "":
		return p.createMachine(ctx, a.CreateMachine)
	case a.DeleteMachine != "":
		return p.vms().Delete(ctx, a.DeleteMachine, api.DeleteOptions{})
	case a.Bench != nil:
		return p.bench(ctx, *a.Bench)
	case a.Stuck != nil:
		return p.stuck(ctx, *a.Stuck)
	case a.Machines != nil:
		return p.compareMachines(ctx, *a.Machines)
	}
	return nil
}
