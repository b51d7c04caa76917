package work

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// moduleName begins with the main module's name, so that the copies may import its internal
// packages.
const moduleName = "orrery/workshop/work"

// writeModule writes go.mod and go.sum: the main module's requirements, and the main module itself
// in place. So an editor understands the learner's files, and "./..." in the repository skips them.
func (f Folder) writeModule() error {
	text, err := os.ReadFile(filepath.Join(f.Repository, "go.mod"))
	if err != nil {
		return err
	}
	name, rest, _ := strings.Cut(string(text), "\n")
	if name != "module orrery" {
		return errors.New("go.mod does not begin with \"module orrery\"")
	}
	module := "module " + moduleName + "\n" + rest + "\nrequire orrery v0.0.0\n\nreplace orrery => ../..\n"
	if err := write(filepath.Join(f.Dir, "go.mod"), []byte(module), 0o644); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(f.Repository, "go.sum"))
	if err != nil {
		return err
	}
	return write(filepath.Join(f.Dir, "go.sum"), sums, 0o644)
}

// FindRepository returns the repository around a folder.
func FindRepository(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if name, _, _ := strings.Cut(string(text), "\n"); err == nil && strings.TrimSpace(name) == "module orrery" {
			return dir, nil
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return "", ErrNoRepository
	}
}

// ErrNoRepository reports that the current folder is outside of a repository of this project.
var ErrNoRepository = errors.New("this folder is not inside the repository of Orrery")
