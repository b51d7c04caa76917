package bundle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// modules returns the files of Go's module cache that builds and tests of the main module need, in
// the layout of a proxy: the zips of all modules in go.mod, and each go.mod that go.sum names.
func (config Config) modules(ctx context.Context) (entries []entry, err error) {
	config.Meter.Begin("go mod download", 0, 0)
	defer config.Meter.End()
	// It fails if a module cannot be downloaded, and the output says which.
	output, failed := goOutput(ctx, config.Repository, "mod", "download", "-json")
	cache, err := goOutput(ctx, config.Repository, "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(strings.TrimSpace(cache), "cache", "download")
	have := map[string]bool{}
	add := func(file string) error {
		name, err := filepath.Rel(cache, file)
		if err == nil && !have[name] {
			have[name] = true
			entries = append(entries, entry{part: ModulesPart, name: path.Join(ModulesFolder, filepath.ToSlash(name)), file: file})
		}
		return err
	}
	modules := json.NewDecoder(strings.NewReader(output))
	for {
		var module struct{ Path, Version, Error, Info, GoMod, Zip string }
		if err := modules.Decode(&module); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go mod download -json: %w", err)
		}
		if module.Error != "" {
			return nil, fmt.Errorf("go mod download: %s@%s: %s", module.Path, module.Version, module.Error)
		}
		for _, file := range []string{module.Info, module.GoMod, module.Zip} {
			if err := add(file); err != nil {
				return nil, err
			}
		}
	}
	if failed != nil {
		return nil, failed
	}
	sums, err := os.ReadFile(filepath.Join(config.Repository, "go.sum"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(sums)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || !strings.HasSuffix(fields[1], "/go.mod") {
			continue
		}
		file := filepath.Join(cache, filepath.FromSlash(escaped(fields[0])), "@v", strings.TrimSuffix(fields[1], "/go.mod")+".mod")
		if _, err := os.Stat(file); err != nil {
			continue // go.sum may name more than a build reads
		}
		if err := add(file); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// ModulesFolder is the folder of a kit in the layout of a proxy.
const ModulesFolder = Folder + "/modules"

// goOutput returns what a go command writes to its standard output.
func goOutput(ctx context.Context, dir string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = dir
	output, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("go %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(output), err
}

var upperCase = regexp.MustCompile(`[A-Z]`)

// escaped returns a module's path as the module cache writes it: an exclamation mark and a small
// letter for each capital.
func escaped(module string) string {
	return upperCase.ReplaceAllStringFunc(module, func(letter string) string { return "!" + strings.ToLower(letter) })
}

var (
	archiveForm = regexp.MustCompile(`^(go1\.[0-9.]+(?:rc[0-9]+)?)\.[a-z0-9]+-[a-z0-9]+\.(?:tar\.gz|zip|msi|pkg)$`)
	goForm      = regexp.MustCompile(`(?m)^go ([0-9.]+)$`)
)

// Reasons why a file is not an archive of Go for a kit.
var (
	ErrNotGo = errors.New("not an archive of Go as go.dev/dl names them")
	ErrOldGo = errors.New("an older version of Go than go.mod asks for")
)

// CheckArchive reports whether a file can be an archive of Go for the repository.
func CheckArchive(repository, file string) error {
	if _, err := os.Stat(file); err != nil {
		return err
	}
	name := archiveForm.FindStringSubmatch(filepath.Base(file))
	if name == nil {
		return ErrNotGo
	}
	text, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		return err
	}
	if wanted := goForm.FindStringSubmatch(string(text)); wanted != nil && version.Compare(name[1], "go"+wanted[1]) < 0 {
		return ErrOldGo
	}
	return nil
}
