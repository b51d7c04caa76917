package verify

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/overlay"
	"orrery/internal/lab/labs/script"
	"orrery/internal/lab/labs/steps"
)

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
