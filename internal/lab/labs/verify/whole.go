package verify

import (
	"context"
	"path/filepath"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/overlay"
	"orrery/internal/lab/labs/script"
	"orrery/internal/lab/labs/steps"
)

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
		one := *s
		one.lab, one.dir = lab, filepath.Join(s.dir, lab.Name)
		folder, err := one.version("reference", unchanged)
		if err != nil {
			return nil, err
		}
		labs, folders[lab] = append(labs, lab), folder
	}
	if len(labs) == 0 {
		return []string{"no lab has a page of the controller"}, nil
	}
	lay, err := overlay.All(s.repository, labs, func(lab *manifest.Lab) string { return folders[lab] }, s.repository)
	if err != nil {
		return nil, err
	}
	build := steps.Build{Repository: s.repository, Package: run.Package(), Overlay: filepath.Join(s.dir, "overlay.json")}
	if err := lay.Write(build.Overlay); err != nil {
		return nil, err
	}
	return s.play(ctx, lay, build, run)
}
