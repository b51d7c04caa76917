package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orrery/internal/lab/labs/bundle"
	"orrery/internal/lab/labs/console"
	"orrery/internal/lab/labs/work"
)

// commandsWork: the marked code blocks of the pages for learners and teachers work, in a copy of
// the repository. Each page begins with an empty work folder. A translation with the same blocks
// is not run again.
func commandsWork(ctx context.Context, s *subject) (problems []string, err error) {
	names, err := bundle.Pages(s.repository)
	if err != nil {
		return nil, err
	}
	pages := map[string][]console.Block{}
	for _, name := range names {
		text, err := s.source(name)
		if err != nil {
			return nil, err
		}
		pages[name] = console.Blocks(string(text))
	}
	dir := filepath.Join(s.dir, "copy")
	if err := s.copy(ctx, dir); err != nil {
		return nil, err
	}
	environment := commandEnvironment(filepath.Join(dir, "bin"))
	withoutCgo := append(slices.Clone(environment), "CGO_ENABLED=0") // as in the kit, whose build finds it in the cache
	if problem, err := output(ctx, dir, withoutCgo, "go", "build", "-o", "bin/", "./cmd/lab", "./cmd/orrery"); problem != "" || err != nil {
		return []string{problem}, err
	}
	for _, name := range names {
		english, isChinese := strings.CutSuffix(name, ".zh-CN.md")
		if isChinese && slices.EqualFunc(pages[name], pages[english+".md"], func(a, b console.Block) bool { return a.Text == b.Text }) {
			continue
		}
		for _, block := range pages[name] {
			problem, err := block.Run(ctx, dir, environment)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, block.Line, err)
			}
			if problem != "" {
				problems = append(problems, fmt.Sprintf("%s:%d: %s", name, block.Line, strings.TrimSpace(problem)))
				break
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(work.Path))); err != nil {
			return nil, err
		}
	}
	return problems, nil
}

// copy copies the files of the repository that git tracks.
func (s *subject) copy(ctx context.Context, dir string) error {
	names, err := bundle.Tracked(ctx, s.repository)
	if err != nil {
		return err
	}
	for _, name := range names {
		from, to := filepath.Join(s.repository, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(from)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
