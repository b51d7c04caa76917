package verify

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"orrery/internal/lab/labs/anchor"
	"orrery/internal/lab/labs/bundle"
)

// referenceForm matches a reference to code in a page: `queue/queue.go: Queue.Get`.
var referenceForm = regexp.MustCompile("`([a-zA-Z0-9_./-]+\\.go: [A-Za-z0-9_.]+)`")

// referencesResolve: each reference to code in a page for learners or teachers leads to a
// declaration.
func referencesResolve(_ context.Context, s *subject) (problems []string, err error) {
	names, err := bundle.Pages(s.repository)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := s.source(name)
		if err != nil {
			return nil, err
		}
		for number, line := range strings.Split(string(text), "\n") {
			for _, found := range referenceForm.FindAllStringSubmatch(line, -1) {
				if _, err := anchor.Resolve(s.repository, found[1]); err != nil {
					problems = append(problems, fmt.Sprintf("%s:%d: %v", name, number+1, err))
				}
			}
		}
	}
	return problems, nil
}
