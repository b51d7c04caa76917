package check

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orrery/internal/lab/course"
)

// subject is a lab that is verified.
type subject struct {
	repository string
	lab        *course.Lab
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
	{"planted wrong solutions", mutantsDie},
	{"run", scriptPlays},
}

// Verify is "lab verify": it checks the labs themselves, and writes a line for each check, with its
// seconds. ok reports that nothing is wrong.
func Verify(ctx context.Context, repository string, labs []*course.Lab, out io.Writer) (ok bool, err error) {
	toolchain, err := course.LookUpToolchain(ctx, repository)
	if err != nil {
		return false, err
	}
	var failed []string
	for _, lab := range labs {
		s := &subject{repository: repository, lab: lab, race: toolchain.Race}
		check, err := s.verify(ctx, out)
		if err != nil {
			return false, err
		}
		if check != "" {
			failed = append(failed, check)
		}
	}
	// Named again at the end, where a reader of a long log looks first.
	for _, check := range failed {
		fmt.Fprintln(out, check)
	}
	return len(failed) == 0, nil
}

// verify makes the checks, writes what is wrong, and returns a line that names the check that
// failed, or "". The first that finds something is the last.
func (s *subject) verify(ctx context.Context, out io.Writer) (failed string, err error) {
	if s.dir, err = os.MkdirTemp("", "orrery-verify-"); err != nil {
		return "", err
	}
	defer os.RemoveAll(s.dir)
	id := s.lab.ID
	for _, c := range checks {
		began := time.Now()
		problems, err := c.check(ctx, s)
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", id, c.name, err)
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
			return fmt.Sprintf("%-3s ✘ %s", id, c.name), nil
		}
	}
	return "", nil
}

// version writes a version of the lab's pages into a folder of its own. change gets each page of
// the reference.
func (s *subject) version(name string, change func(page course.File, text []byte) ([]byte, error)) (folder string,
	err error) {
	folder = filepath.Join(s.dir, name)
	for _, page := range s.lab.Files {
		text, err := os.ReadFile(filepath.Join(s.repository, filepath.FromSlash(page.Path)))
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
