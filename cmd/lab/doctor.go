package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
)

func newDoctorCommand() *cobra.Command {
	warm, room := true, false
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine is ready for the workshop",
		Long: `Checks Go, the module cache, the C compiler and the work folder, and names a
remedy for each problem. At the end it builds what the labs need, so that the
first "lab test" is fast.`,
		Example: `  # is this machine ready?
  lab doctor

  # one line for the teacher
  lab doctor --room`,
		RunE: opened(func(s *session, _ []string) error {
			out := s.OutOrStdout()
			if room {
				s.SetOut(io.Discard)
			}
			c := &checkup{session: s}
			c.examine(s.Context(), warm)
			if room {
				fmt.Fprintln(out, c.line())
			}
			if len(c.serious) > 0 {
				return program.Exit(exitUsage)
			}
			return nil
		}),
	}
	command.Flags().BoolVar(&warm, "warm", true, "build what the labs need")
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

// add prints the result of a check: what was found, and what to do about it.
func (c *checkup) add(check string, ok, optional bool, text string) {
	mark := "✔"
	switch {
	case ok:
		c.passed[check] = true
	case optional:
		mark = "·"
	default:
		mark = "✘"
		c.serious = append(c.serious, check)
	}
	fmt.Fprintf(c.OutOrStdout(), "  %s %-14s %s\n", mark, check, text)
}

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
	return c.say("room", name, system, c.version, word("race detector"), word("build"), state)
}

// examine makes all checks.
func (c *checkup) examine(ctx context.Context, warm bool) {
	c.passed = map[string]bool{}
	toolchain, err := course.LookUpToolchain(ctx, c.folder.Repository)
	if err != nil {
		c.version = c.say("no-go", err)
		c.add("go", false, false, c.version)
		return
	}
	c.version = toolchain.Version
	c.add("go", true, false, c.version)
	modules := c.modules(ctx)
	if toolchain.Race {
		c.add("race detector", true, true, c.say("doctor-race", toolchain.CC))
	} else {
		c.add("race detector", false, true, c.say("no-race-detector"))
	}
	err = c.writable()
	c.add("work folder", err == nil, false, either(err, c.say("doctor-work", c.show(c.folder.Dir))))
	if warm && modules {
		fmt.Fprintln(c.ErrOrStderr(), c.say("doctor-builds"))
		if err = c.warm(ctx, toolchain.Race); err != nil {
			err = errors.New(c.say("doctor-build-bad", err))
		}
		c.add("build", err == nil, false, either(err, c.say("doctor-build")))
	}
}

// either returns the text of an error, or the given one if there is none.
func either(err error, text string) string {
	if err != nil {
		return err.Error()
	}
	return text
}

// modules checks that everything can be built without network.
func (c *checkup) modules(ctx context.Context) (ok bool) {
	output, ok, err := course.Go(ctx, c.folder.Repository, "list", "-deps", "-test", "./...")
	text := c.say("doctor-modules")
	if ok = ok && err == nil; !ok && course.IsKit(c.folder.Repository) {
		text = c.say("doctor-modules-kit", lastLine(output))
	} else if !ok {
		text = c.say("doctor-modules-missing", lastLine(output))
	}
	c.add("modules", ok, false, text)
	return ok
}

// writable reports whether the work folder can be written.
func (s *session) writable() error {
	if err := os.MkdirAll(s.folder.Dir, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(s.folder.Dir, "doctor-*.tmp")
	if err != nil {
		return err
	}
	file.Close()
	return os.Remove(file.Name())
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
