package labscmd

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"orrery/internal/lab/demo/scenes"
	"orrery/internal/program"
)

// sceneEnds is how long a scene may take to end after Ctrl-C.
const sceneEnds = 2 * time.Second

// runScene plays the lab's scene with the learner's pages: "lab demo" of a laboratory that is built
// with them. It has the terminal, and Ctrl-C reaches it as it reaches this process.
func (s *session) runScene(ctx context.Context, chosen *choice, dir string, o *runOptions) error {
	scene := chosen.run.Scene
	if chosen.lab == nil {
		scene = scenes.Default
	}
	if _, err := scenes.Named(scene); err != nil {
		return s.refuse("run-no-scene", chosen.lab.ID)
	}
	binary := filepath.Join(dir, executable)
	lay, err := s.build(ctx, chosen, "cmd/lab", dir, binary)
	if err != nil {
		return err
	}
	arguments := []string{"demo", "--scene", scene, "--gears", chosen.run.GearSet()}
	if o.view {
		arguments = append(arguments, "--view", "--view-port", strconv.Itoa(o.page.Port), "--no-open="+strconv.FormatBool(o.page.NoOpen))
		for name := range lay.Pages {
			arguments = append(arguments, "--yours", name+"="+lay.Show(name))
		}
	}
	demo := exec.CommandContext(ctx, binary, arguments...)
	demo.Stdin, demo.Stdout, demo.Stderr = s.InOrStdin(), bare(s.OutOrStdout()), s.ErrOrStderr()
	demo.Cancel = func() error {
		if program.Stopped(ctx) != nil { // the terminal has sent Ctrl-C to both, but kill and editors have not
			time.AfterFunc(sceneEnds, func() { _ = demo.Process.Signal(syscall.SIGTERM) }) // an error means that it has ended
			return nil
		}
		return demo.Process.Signal(syscall.SIGTERM)
	}
	err = demo.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return program.Exit(failed.ExitCode())
	}
	return usage(err)
}
