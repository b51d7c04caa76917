// Package verify is "lab verify": it checks the labs themselves. Each check is a function that
// returns what is wrong; the table of checks has their order.
package verify

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/overlay"
	"orrery/internal/lab/labs/script"
	"orrery/internal/lab/labs/steps"
)

// subject is what is verified: a lab, or the whole course.
type subject struct {
	repository string
	// lab is nil for a check of the course.
	lab *manifest.Lab
	// all are all labs of the repository.
	all []*manifest.Lab
	// dir is a folder for files of the checks.
	dir string
	// race reports whether the race detector is there.
	race bool
}

// entry is a line of a table of checks.
type entry struct {
	name  string
	check func(context.Context, *subject) ([]string, error)
}

// checks are all checks of a lab, the cheap ones first. Each builds on those before it.
var checks = []entry{
	{"reference passes", referencePasses},
	{"stub", stubFails},
	{"each function is needed", eachFunctionIsNeeded},
	{"planted wrong solutions", mutantsDie},
	{"run", scriptPlays},
}

// courseChecks are all checks of the whole course. They are independent of each other.
var courseChecks = []entry{
	{"programs with stubs", stubsBuild},
	{"the whole runtime", wholeRuntime},
}

// Run verifies labs and writes a line for each check, with its seconds. Without labs it verifies
// all of them, and then the course. ok reports that nothing is wrong.
func Run(ctx context.Context, repository string, labs []*manifest.Lab, out io.Writer) (ok bool, err error) {
	toolchain, err := steps.Look(ctx, repository)
	if err != nil {
		return false, err
	}
	all, err := manifest.LoadAll(repository)
	if err != nil {
		return false, err
	}
	course := len(labs) == 0
	if course {
		labs = all
	}
	s := &subject{repository: repository, all: all, race: toolchain.Race}
	var failed []string
	for _, lab := range labs {
		s.lab = lab
		names, err := s.verify(ctx, checks, out)
		if err != nil {
			return false, err
		}
		failed = append(failed, names...)
	}
	s.lab = nil
	for i := range courseChecks {
		if !course {
			break
		}
		names, err := s.verify(ctx, courseChecks[i:i+1], out)
		if err != nil {
			return false, err
		}
		failed = append(failed, names...)
	}
	// Named again at the end, where a reader of a long log looks first.
	for _, check := range failed {
		fmt.Fprintln(out, check)
	}
	return len(failed) == 0, nil
}

// verify makes checks, writes what is wrong, and returns a line that names the check that failed.
// The first that finds something is the last.
func (s *subject) verify(ctx context.Context, checks []entry, out io.Writer) (failed []string, err error) {
	if s.dir, err = os.MkdirTemp("", "orrery-verify-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.dir)
	id := "all"
	if s.lab != nil {
		id = s.lab.ID
	}
	for _, c := range checks {
		began := time.Now()
		problems, err := c.check(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", id, c.name, err)
		}
		mark := "✔"
		if len(problems) > 0 {
			mark = "✘"
		}
		fmt.Fprintf(out, "%-3s %s %-26s %5.1f s\n", id, mark, c.name, time.Since(began).Seconds())
		for _, problem := range problems {
			fmt.Fprintf(out, "      %s\n", strings.ReplaceAll(problem, "\n", "\n      "))
		}
		if len(problems) > 0 {
			return []string{fmt.Sprintf("%-3s ✘ %s", id, c.name)}, nil
		}
	}
	return nil, nil
}

// source returns a file of the repository.
func (s *subject) source(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.repository, filepath.FromSlash(name)))
}

// version writes a version of the lab's pages into a folder of its own. change gets each page of
// the reference.
func (s *subject) version(name string, change func(page manifest.File, text []byte) ([]byte, error)) (folder string, err error) {
	folder = filepath.Join(s.dir, name)
	for _, page := range s.lab.Files {
		text, err := s.source(page.Path)
		if err != nil {
			return "", err
		}
		if text, err = change(page, text); err != nil {
			return "", err
		}
		file := filepath.Join(folder, filepath.FromSlash(page.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// stubsBuild: the programs of "lab run" build with the stubs of all labs at once. With one after
// the other, nearly the whole repository would be compiled for each lab.
func stubsBuild(ctx context.Context, s *subject) (problems []string, err error) {
	var labs []*manifest.Lab
	var programs []string
	folders := map[*manifest.Lab]string{}
	for _, lab := range s.all {
		if len(lab.Files) == 0 {
			continue
		}
		folder, _, err := s.of(lab).stub()
		if err != nil {
			return nil, err
		}
		labs, folders[lab] = append(labs, lab), folder
		programs = append(programs, lab.Run.Package())
	}
	slices.Sort(programs)
	for _, program := range slices.Compact(programs) {
		lay, build, err := s.together(program, labs, folders)
		if err != nil {
			return nil, err
		}
		if output, ok, err := build.Program(ctx, filepath.Join(s.dir, "stubs.exe")); err != nil {
			return nil, err
		} else if !ok {
			problems = append(problems, fmt.Sprintf("%s does not build with the stubs: %s", program, lay.Map(output)))
		}
	}
	return problems, nil
}

// of returns the subject for one lab of the course.
func (s *subject) of(lab *manifest.Lab) *subject {
	one := *s
	one.lab, one.dir = lab, filepath.Join(s.dir, lab.Name)
	return &one
}

// together returns the build of a program with the pages of several labs.
func (s *subject) together(program string, labs []*manifest.Lab, folders map[*manifest.Lab]string) (*overlay.Overlay, steps.Build, error) {
	build := steps.Build{Repository: s.repository, Package: program, Overlay: filepath.Join(s.dir, "overlay.json")}
	lay, err := overlay.All(s.repository, labs, func(lab *manifest.Lab) string { return folders[lab] }, s.repository)
	if err == nil {
		err = lay.Write(build.Overlay)
	}
	return lay, build, err
}

// wholeRuntime: a controller that consists of the pages of all labs, with the reference's bodies,
// deletes full namespaces. It is "lab run --all" at the end of the course.
func wholeRuntime(ctx context.Context, s *subject) ([]string, error) {
	run := script.Whole()
	var labs []*manifest.Lab
	folders := map[*manifest.Lab]string{}
	for _, lab := range s.all {
		if !run.Uses(lab) {
			continue
		}
		folder, err := s.of(lab).version("reference", unchanged)
		if err != nil {
			return nil, err
		}
		labs, folders[lab] = append(labs, lab), folder
	}
	if len(labs) == 0 {
		return []string{"no lab has a page of the controller"}, nil
	}
	lay, build, err := s.together(run.Package(), labs, folders)
	if err != nil {
		return nil, err
	}
	return s.play(ctx, lay, build, run)
}
