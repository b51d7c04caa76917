package course

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/course/bundle"
	"orrery/internal/lab/course/steps"
)

// ailment is the result of one check of the doctor.
type ailment struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	// Optional reports that the workshop works without it.
	Optional bool `json:"optional,omitempty"`
	// Says is what was found, and what to do about it.
	Says string `json:"says"`
}

// examination says what the doctor looks at.
type examination struct {
	// warm builds what the labs need.
	warm bool
	// kit compares the folder with the offline kit.
	kit bool
	// tell gets each result as soon as it is known. It may be nil.
	tell func(ailment)
}

func newDoctorCommand() *cobra.Command {
	var format outputFormat
	e := examination{warm: true}
	room := false
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine is ready for the workshop",
		Long: `Checks Go, the module cache, the C compiler, the loopback network, the disk, the
work folder, and that the reference is as it was published. It names a remedy
for each problem. At the end it builds what the labs need, so that the first
"lab test" is fast.`,
		Example: `  # is this machine ready?
  lab doctor

  # one line for the teacher
  lab doctor --room

  # in an unpacked offline kit: is everything there?
  lab doctor --kit`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			if !room && format == textOutput {
				e.tell = s.printAilment
			}
			found := s.examine(command.Context(), e)
			switch {
			case room && format == jsonOutput:
				err = writeJSON(command.OutOrStdout(), newSeat(s, found))
			case room:
				fmt.Fprintln(command.OutOrStdout(), newSeat(s, found).line(s.lang))
			case format == jsonOutput:
				err = writeJSON(command.OutOrStdout(), found)
			}
			if err == nil && len(serious(found)) > 0 {
				return program.Exit(exitUsage)
			}
			return err
		},
	}
	command.Flags().BoolVar(&e.warm, "warm", true, "build what the labs need")
	command.Flags().BoolVar(&e.kit, "kit", false, "compare this folder with the offline kit that it was unpacked from")
	command.Flags().BoolVar(&room, "room", false, "print one line for the teacher")
	format.addTo(command)
	return command
}

// serious returns the checks that failed and that the workshop cannot do without.
func serious(found []ailment) (names []string) {
	for _, a := range found {
		if !a.OK && !a.Optional {
			names = append(names, a.Check)
		}
	}
	return names
}

func (s *session) printAilment(a ailment) {
	mark := "✔"
	if !a.OK {
		mark = "✘"
		if a.Optional {
			mark = "·"
		}
	}
	fmt.Fprintf(s.OutOrStdout(), "  %s %-14s %s\n", mark, a.Check, a.Says)
}

// checkup collects what the doctor finds.
type checkup struct {
	*session
	found []ailment
	tell  func(ailment)
}

func (c *checkup) add(check string, ok, optional bool, message string, arguments ...any) {
	c.note(ailment{check, ok, optional, c.lang.Say(message, arguments...)})
}

func (c *checkup) note(a ailment) {
	c.found = append(c.found, a)
	if c.tell != nil {
		c.tell(a)
	}
}

// examine makes all checks.
func (s *session) examine(ctx context.Context, e examination) []ailment {
	c := &checkup{session: s, tell: e.tell}
	toolchain, err := steps.Look(ctx, s.folder.Repository)
	if err != nil {
		c.add("go", false, false, "no-go", err)
		return c.found
	}
	c.add("go", true, false, "doctor-go", toolchain.Version)
	kit, unreadable := bundle.Read(s.folder.Repository)
	if unreadable != nil {
		c.add("kit", false, false, "doctor-kit-bad", unreadable)
	}
	modules := c.modules(ctx, kit)
	if toolchain.Race {
		c.add("race detector", true, true, "doctor-race", toolchain.CC)
	} else {
		c.add("race detector", false, true, "no-race-detector")
	}
	if err := loopback(); err != nil {
		c.add("ports", false, false, "doctor-ports-bad", err)
	} else {
		c.add("ports", true, false, "doctor-ports")
	}
	if err := s.writable(); err != nil {
		c.note(ailment{Check: "work folder", Says: plain(c.Command, err).Error()})
	} else {
		c.add("work folder", true, false, "doctor-work", s.show(s.folder.Dir))
		c.disk(freeSpace(c.folder.Dir))
	}
	c.reference(ctx, kit)
	if e.kit && unreadable == nil {
		c.kit(kit)
	}
	if e.warm && modules {
		fmt.Fprintln(s.ErrOrStderr(), s.lang.Say("doctor-builds"))
		if err := s.warm(ctx, toolchain.Race); err != nil {
			c.add("build", false, false, "doctor-build-bad", err)
		} else {
			c.add("build", true, false, "doctor-build")
		}
	}
	return c.found
}

// modules checks that everything can be built without network.
func (c *checkup) modules(ctx context.Context, kit *bundle.Kit) (ok bool) {
	output, ok, err := steps.Go(ctx, c.folder.Repository, "list", "-deps", "-test", "./...")
	switch {
	case err == nil && ok:
		c.add("modules", true, false, "doctor-modules")
		return true
	case kit != nil:
		c.add("modules", false, false, "doctor-modules-kit", lastLine(output))
	default:
		c.add("modules", false, false, "doctor-modules-missing", lastLine(output))
	}
	return false
}

// loopback reports whether programs on this machine can talk to each other, as "lab run" needs it.
func loopback() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	connection, err := net.DialTimeout("tcp", listener.Addr().String(), loopbackLimit)
	if err != nil {
		return err
	}
	return connection.Close()
}

// loopbackLimit is how long a connection on this machine may take.
const loopbackLimit = 5 * time.Second

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

const (
	// enoughDisk is what the build cache takes for all labs with the race detector, and some more.
	enoughDisk = 2e9
	// leastDisk is what a lab takes that was built before.
	leastDisk = 500e6
)

// disk checks the free space for work folder and build cache, which are mostly on one disk.
func (c *checkup) disk(free float64, err error) {
	switch {
	case err != nil:
		c.add("disk", false, true, "doctor-disk-unknown", err)
	case free < enoughDisk:
		works := free >= leastDisk
		c.add("disk", false, works, "doctor-disk-full", free/gigabyte, enoughDisk/gigabyte)
	default:
		c.add("disk", true, false, "doctor-disk", free/gigabyte)
	}
}

// gigabyte is a unit of sizes.
const gigabyte = 1e9

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
	meter.Begin("go build", 0, int64(len(s.labs)+1))
	defer bench.ShowProgress(s.ErrOrStderr(), meter)()
	for _, lab := range s.labs {
		build := steps.Build{Repository: s.folder.Repository, Package: lab.Package(), Overlay: overlay, Race: race}
		if output, ok, err := build.Test(ctx, filepath.Join(dir, "test")); err != nil || !ok {
			return errors.Join(errors.New(lastLine(output)), err)
		}
		meter.Count(1)
	}
	build := steps.Build{Repository: s.folder.Repository, Package: "cmd/orrery", Overlay: overlay}
	if output, ok, err := build.Program(ctx, filepath.Join(dir, "orrery")); err != nil || !ok {
		return errors.Join(errors.New(lastLine(output)), err)
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
