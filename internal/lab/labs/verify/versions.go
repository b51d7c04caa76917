package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orrery/internal/lab/labs/check"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/report"
	"orrery/internal/lab/labs/stub"
)

// version is one version of a lab's pages.
type version struct {
	name   string
	race   bool
	change func(page manifest.File, text []byte) ([]byte, error)
}

// chooser is the environment variable that chooses a version in a build of several, and the name of
// the variable that has its value.
const chooser = "LAB_VERSION"

// each tests versions, a few at a time, and returns the problems that find names in their reports,
// in their order. Nearly all of the time is that of the compiler and the linker, so versions that
// differ only in bodies of functions share a build.
func (s *subject) each(ctx context.Context, versions []version, find func(i int, r *report.Report) (problem string)) ([]string, error) {
	folders := make([]string, len(versions))
	for i, v := range versions {
		folder, err := s.version(v.name, v.change)
		if err != nil {
			return nil, err
		}
		folders[i] = folder
	}
	binary, with, err := s.buildTogether(ctx, versions, folders)
	if err != nil {
		return nil, err
	}
	return parallel(len(versions), func(i int) (string, error) {
		options := s.options(folders[i], versions[i].race)
		if slices.Contains(with, i) {
			options.Built, options.Env = binary, []string{chooser + "=" + versions[i].name}
		}
		r, err := check.Run(ctx, options)
		if err != nil {
			return "", err
		}
		return find(i, r), nil
	})
}

// buildTogether builds the tests once for several versions and returns for which. Those that it
// leaves out need a build of their own, and so do all if one does not compile.
func (s *subject) buildTogether(ctx context.Context, versions []version, folders []string) (binary string, with []int, err error) {
	for i, v := range versions {
		if !v.race {
			with = append(with, i)
		}
	}
	pkg := ""
	folder, err := s.version("several", func(page manifest.File, text []byte) ([]byte, error) {
		p, err := stub.Parse(page.Path, text)
		if err != nil {
			return nil, err
		}
		pkg = p.Package()
		var others []stub.Version
		for _, i := range with {
			file := filepath.Join(folders[i], filepath.FromSlash(page.Path))
			other, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			parsed, err := stub.Parse(page.Path, other)
			if err != nil {
				return nil, err
			}
			others = append(others, stub.Version{Name: versions[i].name, Page: parsed})
		}
		switched, left := p.Switch(chooser, others)
		with = slices.DeleteFunc(with, func(i int) bool { return slices.Contains(left, versions[i].name) })
		return switched, nil
	})
	if err != nil || len(with) < 2 {
		return "", nil, err
	}
	variable := fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", pkg, chooser, chooser)
	if err := os.WriteFile(filepath.Join(folder, filepath.FromSlash(s.lab.Package()), "lab_version.go"), []byte(variable), 0o644); err != nil {
		return "", nil, err
	}
	_, build, err := s.build(folder, s.lab.Package())
	if err != nil {
		return "", nil, err
	}
	binary = filepath.Join(s.dir, "several.test")
	if _, ok, err := build.Test(ctx, binary); err != nil || !ok {
		return "", nil, err
	}
	return binary, with, nil
}
