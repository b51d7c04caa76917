package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
)

func newDoctorCommand() *cobra.Command {
	room := false
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine is ready for the workshop",
		Long: `Checks Go, the module cache, the C compiler, kubectl and the work folder, and
names a remedy for each problem. At the end it builds what the labs need, so
that the first "lab test" is fast.`,
		Example: `  # is this machine ready?
  lab doctor

  # one line for the teacher
  lab doctor --room`,
		RunE: opened(func(s *session, _ []string) error {
			out := s.OutOrStdout()
			if room {
				s.SetOut(io.Discard)
			}
			c := &checkup{session: s, passed: map[string]bool{}}
			c.examine(s.Context())
			if room {
				fmt.Fprintln(out, c.line())
			}
			if len(c.serious) > 0 {
				return program.Exit(exitUsage)
			}
			return nil
		}),
	}
	command.Flags().BoolVar(&room, "room", false, "print one line for the teacher")
	return command
}

// checkup is what the doctor has found.
type checkup struct {
	*session
	version string
	passed  map[string]bool // by check
	serious []string        // the checks that failed and that the workshop cannot do without
}

// add prints the result of a check: what was found, or what to do about the problem.
func (c *checkup) add(check string, problem error, found string) {
	mark := "✔"
	switch {
	case problem == nil:
		c.passed[check] = true
	case check == raceCheck || check == kubectlCheck: // some labs, or none, can do without
		mark, found = "·", problem.Error()
	default:
		mark, found = "✘", problem.Error()
		c.serious = append(c.serious, check)
	}
	fmt.Fprintf(c.OutOrStdout(), "  %s %-14s %s\n", mark, check, found)
}

const raceCheck, kubectlCheck, buildCheck = "race detector", "kubectl", "build"

// line returns what a teacher wants to know of a machine in the room.
func (c *checkup) line() string {
	word := func(check string) string {
		if c.passed[check] {
			return c.say("yes")
		}
		return c.say("no")
	}
	state := c.say("room-ready")
	if len(c.serious) > 0 {
		state = c.say("room-not-ready", strings.Join(c.serious, ", "))
	}
	name, _ := os.Hostname() // "" says so
	if current, err := user.Current(); err == nil {
		name = current.Username + "@" + name
	}
	system := runtime.GOOS + "/" + runtime.GOARCH
	return c.say("room", name, system, c.version, word(raceCheck), word(buildCheck), state)
}

// examine makes all checks.
func (c *checkup) examine(ctx context.Context) {
	toolchain, err := course.LookUpToolchain(ctx, c.folder.Repository)
	if c.version = toolchain.Version; err != nil {
		err = c.refuse("no-go", err)
		c.version = err.Error()
		c.add("go", err, "")
		return
	}
	c.add("go", nil, c.version)
	output, ok, err := course.Go(ctx, c.folder.Repository, "list", "-deps", "-test", "./...")
	switch {
	case ok && err == nil:
	case course.IsKit(c.folder.Repository):
		err = c.refuse("doctor-modules-kit", lastLine(output))
	default:
		err = c.refuse("doctor-modules-missing", lastLine(output))
	}
	modules := err == nil
	c.add("modules", err, c.say("doctor-modules"))
	if err = nil; !toolchain.Race {
		err = c.refuse("no-race-detector")
	}
	c.add(raceCheck, err, c.say("doctor-race", toolchain.CC))
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		err = c.refuse("doctor-no-kubectl")
	}
	c.add(kubectlCheck, err, kubectl)
	c.add("work folder", c.writable(), c.say("doctor-work", c.show(c.folder.Dir)))
	if modules {
		fmt.Fprintln(c.ErrOrStderr(), c.say("doctor-builds"))
		if err = c.warm(ctx, toolchain.Race); err != nil {
			err = c.refuse("doctor-build-bad", err)
		}
		c.add(buildCheck, err, c.say("doctor-build"))
	}
}

// writable reports whether the work folder can be written.
func (s *session) writable() error {
	file := filepath.Join(s.folder.Dir, "doctor.tmp")
	if err := course.WriteFile(file, nil, 0o644); err != nil {
		return err
	}
	return os.Remove(file)
}

// warm fills the build cache with the tests of all labs and the controller.
func (s *session) warm(ctx context.Context, race bool) error {
	dir, err := os.MkdirTemp("", "orrery-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built := func(output string, ok bool, err error) error {
		if err != nil || !ok {
			return errors.Join(errors.New(lastLine(output)), err)
		}
		return nil
	}
	for _, lab := range s.labs {
		target := course.Build{Repository: s.folder.Repository, Package: lab.Package(), Race: race}
		if err := built(target.Test(ctx, filepath.Join(dir, "test"))); err != nil {
			return err
		}
	}
	target := course.Build{Repository: s.folder.Repository, Package: "cmd/orrery"}
	return built(target.Program(ctx, filepath.Join(dir, "orrery")))
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
