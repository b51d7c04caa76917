package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/course"
	"orrery/internal/words"
)

// subject is a lab that is verified.
type subject struct {
	repository string
	lab        *course.Lab
	// dir is a folder for files of the checks.
	dir string
}

// checks are all checks of a lab, the cheap ones first. Each builds on those before it.
var checks = []struct {
	name  string
	check func(context.Context, *subject) ([]string, error)
}{
	{"reference passes", referencePasses},
	{"stub", stubFails},
	{"planted wrong solutions", mutantsDie},
	{"run", scriptPlays},
}

// Verify is "lab verify": it checks the labs themselves, and writes a line for each check, with its
// seconds, when a lab is done. ok reports that nothing is wrong.
func Verify(ctx context.Context, repository string, labs []*course.Lab, out io.Writer) (ok bool, err error) {
	var write sync.Mutex
	failed, err := parallel(len(labs), func(i int) (string, error) {
		s := &subject{repository: repository, lab: labs[i]}
		var told bytes.Buffer
		failed, err := s.verify(ctx, &told)
		write.Lock()
		defer write.Unlock()
		told.WriteTo(out)
		return failed, err
	})
	return len(failed) == 0 && err == nil, err
}

// verify makes the checks and writes what is wrong. The first that finds something is the last, and
// verify returns its name.
func (s *subject) verify(ctx context.Context, out io.Writer) (failed string, err error) {
	if s.dir, err = os.MkdirTemp("", "orrery-verify-"); err != nil {
		return "", err
	}
	defer os.RemoveAll(s.dir)
	for _, c := range checks {
		began := time.Now()
		problems, err := c.check(ctx, s)
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", s.lab.ID, c.name, err)
		}
		mark := "✔"
		if len(problems) > 0 {
			mark = "✘"
		}
		fmt.Fprintf(out, "%-3s %s %-26s %5.1f s\n", s.lab.ID, mark, c.name, time.Since(began).Seconds())
		for _, problem := range problems {
			fmt.Fprintf(out, "      %s\n", strings.ReplaceAll(problem, "\n", "\n      "))
		}
		if len(problems) > 0 {
			return c.name, nil
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
		if err := course.WriteFile(filepath.Join(folder, filepath.FromSlash(page.Path)), text, 0o644); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// limitFactor multiplies the limits of tests and scripts, which are for a learner who waits. Here
// only what never ends may reach its limit, however busy the machine is.
const limitFactor = 20

// options are those of "lab test" of a version, without go vet and without the race detector, which
// watches the same pages in "make test".
func (s *subject) options(folder string) Options {
	return Options{
		Repository: s.repository, Lab: s.lab, Folder: folder, From: s.repository, Quick: true, LimitFactor: limitFactor,
	}
}

// unchanged is the reference.
func unchanged(_ course.File, text []byte) ([]byte, error) { return text, nil }

// referencePasses: the reference passes every step, and no test is missing.
func referencePasses(ctx context.Context, s *subject) ([]string, error) {
	folder, err := s.version("reference", unchanged)
	if err != nil {
		return nil, err
	}
	r, err := Run(ctx, s.options(folder))
	switch {
	case err != nil:
		return nil, err
	case !r.Passed:
		return []string{"the reference does not pass: " + summary(r)}, nil
	case r.Tests < s.lab.Tests.AtLeast:
		return []string{fmt.Sprintf("the steps ran %d tests, and at_least in lab.yaml is %d: which test is missing?",
			r.Tests, s.lab.Tests.AtLeast)}, nil
	}
	return nil, nil
}

// summary describes a report: enough to repair a finding from a log alone.
func summary(r *Report) string {
	var text strings.Builder
	switch {
	case len(r.Build) > 0 || r.NoModule != "":
		text.WriteString("it does not build:\n")
		r.PrintBuild(&text, words.English)
	case r.Failure != nil:
		fmt.Fprintf(&text, "%s in the step %s:\n", r.Failure.Kind, r.Failure.Step)
		r.Failure.Print(&text, words.English, r.Unwritten)
	case len(r.Vet) > 0:
		fmt.Fprintf(&text, "go vet: %s: %s", r.Vet[0].Place, r.Vet[0].Message)
	default:
		text.WriteString("it passes")
	}
	return strings.TrimSpace(text.String())
}

// stubFails: the stub passes vet, and its tests fail because something is still to write.
func stubFails(ctx context.Context, s *subject) (problems []string, err error) {
	folder, err := s.version("stub", func(page course.File, text []byte) ([]byte, error) {
		p, err := course.ParsePage(page.Path, text)
		if err != nil {
			return nil, err
		}
		return p.Make(s.lab.ID, page.Write, page.Remove)
	})
	if err != nil {
		return nil, err
	}
	r, err := Run(ctx, Options{
		Repository: s.repository, Lab: s.lab, Folder: folder, From: s.repository, LimitFactor: limitFactor,
	})
	if err != nil {
		return nil, err
	}
	for _, finding := range r.Vet {
		problems = append(problems, fmt.Sprintf("go vet of the stub: %s: %s", finding.Place, finding.Message))
	}
	if r.Failure == nil || r.Failure.Kind != Unwritten {
		problems = append(problems, "the stub should fail because something is still to write: "+summary(r))
	}
	return problems, nil
}

// mutantsDie: each planted wrong solution builds, fails first at the test that the manifest names,
// and gets its hint.
func mutantsDie(ctx context.Context, s *subject) ([]string, error) {
	return parallel(len(s.lab.Mutants), func(i int) (string, error) {
		mutant := s.lab.Mutants[i]
		folder, err := s.version("mutant-"+mutant.ID, func(page course.File, text []byte) ([]byte, error) {
			changed, err := mutant.Mutate(page.Path, string(text))
			return []byte(changed), err
		})
		if err != nil {
			return "", err
		}
		r, err := Run(ctx, s.options(folder))
		switch {
		case err != nil:
			return "", err
		case r.Failure == nil || r.Failure.Test != mutant.KilledBy:
			return fmt.Sprintf("mutant %s should fail first at %s: %s", mutant.ID, mutant.KilledBy, summary(r)), nil
		case r.Hint != mutant.Hint:
			return fmt.Sprintf("mutant %s should get the hint %q, not %q: %s\n"+
				"the hints for this test, and what each looks for:%s",
				mutant.ID, mutant.Hint, r.Hint, summary(r), hintsFor(s.lab, mutant.KilledBy)), nil
		}
		return "", nil
	})
}

// hintsFor returns a line for each hint for a test, in the order in which they are tried.
func hintsFor(lab *course.Lab, test string) (lines string) {
	for _, hint := range lab.Hints.State {
		if hint.Test == test {
			lines += fmt.Sprintf("\n  %s: %q", hint.ID, hint.Output)
		}
	}
	return lines
}

// parallel calls check for 0 to n-1, a few at a time, and returns the problems in that order.
func parallel(n int, check func(i int) (problem string, err error)) ([]string, error) {
	found, failed := make([]string, n), make([]error, n)
	var running sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.NumCPU()) {
		running.Go(func() {
			for i := range next {
				found[i], failed[i] = check(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	running.Wait()
	return slices.DeleteFunc(found, func(problem string) bool { return problem == "" }), errors.Join(failed...)
}

// scriptPlays: the script of "lab run" has its outcome with the reference.
func scriptPlays(ctx context.Context, s *subject) ([]string, error) {
	run := s.lab.Run
	if len(run.Script) == 0 {
		return nil, nil
	}
	folder, err := s.version("run", unchanged)
	if err != nil {
		return nil, err
	}
	lay, err := s.options(folder).overlay()
	if err != nil {
		return nil, err
	}
	target := course.Build{Repository: s.repository, Package: run.Package(),
		Overlay: filepath.Join(folder, "overlay.json")}
	if err := lay.Write(target.Overlay); err != nil {
		return nil, err
	}
	binary := filepath.Join(s.dir, "program.exe")
	if output, ok, err := target.Program(ctx, binary); err != nil || !ok {
		return []string{"the program does not build: " + lay.Map(output)}, err
	}
	var told bytes.Buffer
	outcome, err := course.Play(ctx, course.PlayConfig{Run: run, Program: binary, Log: filepath.Join(s.dir, "run.log"),
		Verdicts: lay.Pages[causes.VerdictFile], Passed: true, Out: &told, Lang: words.English,
		LimitFactor: limitFactor})
	if err != nil || outcome.OK {
		return nil, err
	}
	log := strings.Split(strings.TrimSpace(outcome.Output), "\n")
	said := "the run fails:\n" + told.String() + "the last lines of the controller's log:\n" +
		strings.Join(log[max(0, len(log)-shownLog):], "\n")
	return strings.Split(strings.TrimSpace(said), "\n"), nil
}

// shownLog is how many lines of the controller's log are shown when a run fails.
const shownLog = 12
