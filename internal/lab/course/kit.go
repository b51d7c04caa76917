package course

import (
	"archive/tar"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Kit says what goes into the offline kit of the workshop: one archive with the repository, the
// modules that it needs, and archives of Go. Unpacked on a machine without network, setup.go fills
// Go's module cache from it. The modules are source code, so one kit serves every operating system.
// The kit has the zips of a module cache, not its folders: they have a quarter of the size, and the
// go command accepts them as a module proxy.
type Kit struct {
	Repository string
	// Archives are archives of Go, downloaded from go.dev/dl.
	Archives []string
	// File is the kit to write.
	File string
	// Version is the version of the repository.
	Version string
}

//go:embed start.md
var startPage string

const (
	// KitRoot is the folder that the archive unpacks to.
	KitRoot = "orrery"
	// kitFolder is the folder in it for everything that is not the repository.
	kitFolder = "kit"
)

// IsKit reports whether a repository was unpacked from a kit.
func IsKit(repository string) bool {
	_, err := os.Stat(filepath.Join(repository, kitFolder))
	return err == nil
}

// WriteKit writes a kit. A kit that is not complete leaves no file.
func WriteKit(ctx context.Context, k Kit) error {
	scratch, err := os.MkdirTemp("", "orrery-kit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	file, err := os.Create(k.File + ".part")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // after the renaming there is none
	defer file.Close()
	if err := k.stage(ctx, scratch); err != nil {
		return err
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	content := os.DirFS(filepath.Join(scratch, "content"))
	if err := errors.Join(archive.AddFS(content), archive.Close(), zipped.Close(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), k.File)
}

// ErrNoClone reports that the repository is not a git clone.
var ErrNoClone = errors.New("this folder is not a git clone")

// stage puts the files of the kit into the folder content of scratch: those of the repository as
// they are in git's index.
func (k Kit) stage(ctx context.Context, scratch string) error {
	root := filepath.Join(scratch, "content", KitRoot)
	if _, err := k.run(ctx, nil, "git", "checkout-index", "--all", "--prefix="+filepath.ToSlash(root)+"/"); err != nil {
		return fmt.Errorf("%w: %w", ErrNoClone, err)
	}
	files := map[string][]byte{"START.md": []byte(startPage), kitFolder + "/version": []byte(k.Version)}
	for _, archive := range k.Archives {
		text, err := os.ReadFile(archive)
		if err != nil {
			return err
		}
		files[path.Join(kitFolder, "go", filepath.Base(archive))] = text
	}
	for name, text := range files {
		if err := WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return k.addModules(ctx, filepath.Join(scratch, "cache"), filepath.Join(root, kitFolder, "modules"))
}

// addModules makes a folder in the layout of a module proxy: all that builds and tests of the main
// module need, and the requirements of each module, for editors. cache is a new module cache. It is
// filled from that of this machine, and from the network where that lacks something.
func (k Kit) addModules(ctx context.Context, cache, folder string) error {
	settings, err := k.run(ctx, nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return err
	}
	own, proxies, _ := strings.Cut(strings.TrimSpace(settings), "\n")
	local := url.URL{Scheme: "file", Path: path.Join("/", filepath.ToSlash(own), "cache/download")}
	environment := []string{"GOMODCACHE=" + cache, "GOPROXY=" + local.String() + "," + proxies, "GOFLAGS=-modcacherw"}
	for _, command := range []string{"download", "graph"} {
		if _, err := k.run(ctx, environment, "go", "mod", command); err != nil {
			return err
		}
	}
	err = os.Rename(filepath.Join(cache, "cache", "download"), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the main module requires no other
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(folder, "sumdb")))
}

// run returns what a command writes to its standard output.
func (k Kit) run(ctx context.Context, environment []string, name string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir, command.Env = k.Repository, append(os.Environ(), environment...)
	output, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(output), err
}
