package course

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/course"
)

// ailment is the result of one check of the doctor.
type ailment struct {
	check string
	ok    bool
	// optional reports that the workshop works without it.
	optional bool
	// says is what was found, and what to do about it.
	says string
}

func newDoctorCommand() *cobra.Command {
	warm, room := true, false
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine is ready for the workshop",
		Long: `Checks Go, the module cache, the C compiler, the work folder, and that the
reference is as it was published. It names a remedy for each problem. At the end
it builds what the labs need, so that the first "lab test" is fast.`,
		Example: `  # is this machine ready?
  lab doctor

  # one line for the teacher
  lab doctor --room`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			c := &checkup{session: s, quiet: room}
			c.examine(command.Context(), warm)
			if room {
				fmt.Fprintln(command.OutOrStdout(), c.line())
			}
			if len(c.serious()) > 0 {
				return program.Exit(exitUsage)
			}
			return nil
		},
	}
	command.Flags().BoolVar(&warm, "warm", true, "build what the labs need")
	command.Flags().BoolVar(&room, "room", false, "print one line for the teacher")
	return command
}

// checkup collects what the doctor finds, and prints it unless it is quiet.
type checkup struct {
	*session
	quiet bool
	found []ailment
}

func (c *checkup) add(check string, ok, optional bool, message string, arguments ...any) {
	c.note(ailment{check, ok, optional, course.Say(c.lang, message, arguments...)})
}

func (c *checkup) note(a ailment) {
	c.found = append(c.found, a)
	mark := "✔"
	switch {
	case c.quiet:
		return
	case !a.ok && a.optional:
		mark = "·"
	case !a.ok:
		mark = "✘"
	}
	fmt.Fprintf(c.OutOrStdout(), "  %s %-14s %s\n", mark, a.check, a.says)
}

// serious returns the checks that failed and that the workshop cannot do without.
func (c *checkup) serious() (names []string) {
	for _, a := range c.found {
		if !a.ok && !a.optional {
			names = append(names, a.check)
		}
	}
	return names
}

// line returns what a teacher wants to know of a machine in the room.
func (c *checkup) line() string {
	word := func(check string) string {
		if slices.ContainsFunc(c.found, func(a ailment) bool { return a.check == check && a.ok }) {
			return course.Say(c.lang, "yes")
		}
		return course.Say(c.lang, "no")
	}
	state := course.Say(c.lang, "room-ready")
	if bad := c.serious(); len(bad) > 0 {
		state = course.Say(c.lang, "room-not-ready", strings.Join(bad, ", "))
	}
	name, _ := os.Hostname() // "" says so
	if current, err := user.Current(); err == nil {
		name = current.Username + "@" + name
	}
	system := runtime.GOOS + "/" + runtime.GOARCH
	return course.Say(c.lang, "room", name, system, c.found[0].says, word("race detector"), word("build"), state)
}

// examine makes all checks.
func (c *checkup) examine(ctx context.Context, warm bool) {
	toolchain, err := course.LookUpToolchain(ctx, c.folder.Repository)
	if err != nil {
		c.add("go", false, false, "no-go", err)
		return
	}
	c.note(ailment{check: "go", ok: true, says: toolchain.Version})
	modules := c.modules(ctx)
	if toolchain.Race {
		c.add("race detector", true, true, "doctor-race", toolchain.CC)
	} else {
		c.add("race detector", false, true, "no-race-detector")
	}
	if err := c.writable(); err != nil {
		c.note(ailment{check: "work folder", says: err.Error()})
	} else {
		c.add("work folder", true, false, "doctor-work", c.show(c.folder.Dir))
	}
	if edited := c.editedPages(ctx); len(edited) > 0 {
		c.add("reference", false, false, "doctor-reference-bad", strings.Join(edited, " "))
	} else {
		c.add("reference", true, false, "doctor-reference")
	}
	if warm && modules {
		fmt.Fprintln(c.ErrOrStderr(), course.Say(c.lang, "doctor-builds"))
		if err := c.warm(ctx, toolchain.Race); err != nil {
			c.add("build", false, false, "doctor-build-bad", err)
		} else {
			c.add("build", true, false, "doctor-build")
		}
	}
}

// modules checks that everything can be built without network.
func (c *checkup) modules(ctx context.Context) (ok bool) {
	output, ok, err := course.Go(ctx, c.folder.Repository, "list", "-deps", "-test", "./...")
	switch {
	case err == nil && ok:
		c.add("modules", true, false, "doctor-modules")
		return true
	case course.IsKit(c.folder.Repository):
		c.add("modules", false, false, "doctor-modules-kit", lastLine(output))
	default:
		c.add("modules", false, false, "doctor-modules-missing", lastLine(output))
	}
	return false
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

// editedPages returns the pages that differ from what git has; none outside of a clone. "lab test"
// says when a page is newer than the one with which its lab was started.
func (c *checkup) editedPages(ctx context.Context) (edited []string) {
	arguments := []string{"status", "--porcelain", "--"}
	for _, lab := range c.labs {
		for _, page := range lab.Files {
			arguments = append(arguments, page.Path)
		}
	}
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir = c.folder.Repository
	output, _ := command.Output() // none without git
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			edited = append(edited, fields[1])
		}
	}
	return edited
}

// warm fills the build cache with the tests of all labs and the controller.
func (s *session) warm(ctx context.Context, race bool) error {
	dir, err := os.MkdirTemp("", "orrery-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, []byte("{}"), 0o644); err != nil {
		return err
	}
	meter := new(bench.Meter)
	defer bench.ShowProgress(s.ErrOrStderr(), meter)()
	for i, lab := range s.labs {
		meter.Begin(fmt.Sprintf("go build %d/%d", i+1, len(s.labs)+1), 0)
		target := course.Build{Repository: s.folder.Repository, Package: lab.Package(), Overlay: overlay, Race: race}
		if output, ok, err := target.Test(ctx, filepath.Join(dir, "test")); err != nil || !ok {
			return errors.Join(errors.New(lastLine(output)), err)
		}
	}
	meter.Begin(fmt.Sprintf("go build %d/%d", len(s.labs)+1, len(s.labs)+1), 0)
	target := course.Build{Repository: s.folder.Repository, Package: "cmd/orrery", Overlay: overlay}
	if output, ok, err := target.Program(ctx, filepath.Join(dir, "orrery")); err != nil || !ok {
		return errors.Join(errors.New(lastLine(output)), err)
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
