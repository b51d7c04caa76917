package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orrery/internal/lab/labs/stub"
)

// complete: the manifest has everything, and what it names exists.
func complete(_ context.Context, s *subject) (problems []string, err error) {
	problems = s.lab.Problems(s.all)
	for _, page := range s.lab.Files {
		text, err := s.source(page.Path)
		if err != nil {
			return nil, err
		}
		reference, err := stub.Parse(page.Path, text)
		if err != nil {
			return nil, err
		}
		if _, err := reference.Make(s.lab.ID, page.Write, page.Remove); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", page.Path, err))
		}
		for _, mutant := range s.lab.Mutants {
			if _, err := mutant.Mutate(page.Path, string(text)); err != nil {
				problems = append(problems, err.Error())
			}
		}
		for _, step := range s.lab.Tests.Steps {
			for _, name := range step.Functions {
				if _, ok := reference.Function(name); !ok && len(s.lab.Files) == 1 {
					problems = append(problems, fmt.Sprintf("step %s: %s has no function %s", step.Name, page.Path, name))
				}
			}
		}
	}
	for _, name := range s.lab.Tests.Files {
		if _, err := os.Stat(filepath.Join(s.repository, filepath.FromSlash(s.lab.Package()), name)); err != nil {
			problems = append(problems, fmt.Sprintf("tests: there is no %s in %s", name, s.lab.Package()))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems), nil
}
