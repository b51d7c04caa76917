package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"orrery/internal/lab/labs/bundle"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/work"
)

// kitLab is the lab that is done in the unpacked kit.
const kitLab = "08"

// offlineKit: the offline kit, unpacked elsewhere, needs no network: with an empty module cache and
// without a proxy its setup works, the doctor is content, and a lab can be started and passed.
func offlineKit(ctx context.Context, s *subject) ([]string, error) {
	file := filepath.Join(s.dir, "kit.tar.gz")
	if _, err := bundle.Write(ctx, bundle.Config{Repository: s.repository, File: file, Version: "verified"}); err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, bundle.Root)
	at := slices.IndexFunc(s.all, func(lab *manifest.Lab) bool { return lab.ID == kitLab })
	if at < 0 {
		return []string{"there is no lab " + kitLab}, nil
	}
	lab := s.all[at]
	environment := append(commandEnvironment(filepath.Join(dir, "bin")),
		"GOPROXY=off", "GOMODCACHE="+filepath.Join(s.dir, "modules"), "GOFLAGS=-mod=mod -modcacherw -trimpath")
	solve := func() error {
		for _, page := range lab.Files {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(page.Path)))
			if err != nil {
				return err
			}
			if err := os.WriteFile(work.In(dir).Page(lab, page.Path), text, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	for _, step := range []struct {
		in      string
		command []string
		then    func() error
	}{
		{s.dir, []string{"tar", "xzf", file}, nil},
		{dir, []string{"go", "run", "./internal/lab/labs/bundle/setup"}, nil},
		{dir, []string{"bin/lab", "doctor", "--kit", "--warm=false"}, nil},
		{dir, []string{"bin/lab", "start", kitLab}, solve},
		{dir, []string{"bin/lab", "test", "--busy", kitLab}, nil},
	} {
		if problem, err := output(ctx, step.in, environment, step.command...); problem != "" || err != nil {
			return []string{problem}, err
		}
		if step.then == nil {
			continue
		}
		if err := step.then(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// commandEnvironment is the environment of commands in a copy of the repository, with its programs.
// With -trimpath the build cache knows the code of every copy.
func commandEnvironment(bin string) []string {
	return append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"LC_ALL=C", "TERM=dumb", "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"))
}

// output runs a command. problem has its output if it fails.
func output(ctx context.Context, dir string, environment []string, words ...string) (problem string, err error) {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	if strings.HasPrefix(words[0], "bin/") {
		command.Path = filepath.Join(dir, filepath.FromSlash(words[0]))
	}
	command.Dir, command.Env = dir, environment
	text, err := command.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); failed && ctx.Err() == nil {
		return fmt.Sprintf("%s: %v: %s", strings.Join(words, " "), err, strings.TrimSpace(string(text))), nil
	}
	return "", err
}
