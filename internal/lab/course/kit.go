package course

import (
	"archive/tar"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
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

// PartialKit returns the name of the file that holds a kit until it is complete.
func PartialKit(file string) string { return file + ".part" }

// WriteKit writes a kit. A kit that is not complete leaves no file.
func WriteKit(ctx context.Context, k Kit) error {
	scratch, err := os.MkdirTemp("", "orrery-kit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	file, err := os.Create(PartialKit(k.File))
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // after the renaming there is none
	defer file.Close()
	files, err := k.files(ctx, scratch)
	if err != nil {
		return err
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := add(archive, name, files[name]); err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), k.File)
}

// files returns the files on disk for all files of the kit, by their names in it. Those that the
// repository lacks are in scratch.
func (k Kit) files(ctx context.Context, scratch string) (map[string]string, error) {
	files, err := k.tracked(ctx)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"START.md": startPage, kitFolder + "/version": k.Version} {
		files[name] = filepath.Join(scratch, path.Base(name))
		if err := os.WriteFile(files[name], []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	for _, archive := range k.Archives {
		files[path.Join(kitFolder, "go", filepath.Base(archive))] = archive
	}
	return files, k.addModules(ctx, filepath.Join(scratch, "modules"), files)
}

// ErrNoClone reports that the repository is not a git clone.
var ErrNoClone = errors.New("this folder is not a git clone")

// tracked returns the files of the repository that git tracks, except those that were deleted.
func (k Kit) tracked(ctx context.Context) (map[string]string, error) {
	command := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached")
	command.Dir = k.Repository
	output, err := command.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoClone, err)
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(output), "\x00"), "\x00") {
		file := filepath.Join(k.Repository, filepath.FromSlash(name))
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
			files[name] = file
		}
	}
	return files, nil
}

// addModules adds the files of a module cache in the layout of a proxy: all that builds and tests of
// the main module need, and the requirements of each module, for editors. The cache is filled from
// that of this machine, and from the network where that lacks something.
func (k Kit) addModules(ctx context.Context, cache string, files map[string]string) error {
	settings, err := k.run(ctx, nil, "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return err
	}
	own, proxies, _ := strings.Cut(strings.TrimSpace(settings), "\n")
	local := url.URL{Scheme: "file", Path: path.Join("/", filepath.ToSlash(own), "cache/download")}
	environment := []string{"GOMODCACHE=" + cache, "GOPROXY=" + local.String() + "," + proxies, "GOFLAGS=-modcacherw"}
	for _, command := range []string{"download", "graph"} {
		if _, err := k.run(ctx, environment, "mod", command); err != nil {
			return err
		}
	}
	download := filepath.Join(cache, "cache", "download")
	return filepath.WalkDir(download, func(file string, found fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && file == download:
			return fs.SkipAll // the main module requires no other
		case err != nil:
			return err
		case found.IsDir() && found.Name() == "sumdb":
			return fs.SkipDir
		case found.IsDir() || path.Ext(file) == ".lock":
			return nil
		}
		name, err := filepath.Rel(download, file)
		files[path.Join(kitFolder, "modules", filepath.ToSlash(name))] = file
		return err
	})
}

// run returns what a go command writes to its standard output.
func (k Kit) run(ctx context.Context, environment []string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir, command.Env = k.Repository, append(os.Environ(), environment...)
	output, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("go %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(output), err
}

// add adds a file to an archive. What is read-only there can be replaced by its owner here.
func add(archive *tar.Writer, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	err = archive.WriteHeader(&tar.Header{
		Name: KitRoot + "/" + name, Size: info.Size(),
		Mode: int64(info.Mode().Perm() | 0o600), ModTime: info.ModTime(),
	})
	if err == nil {
		_, err = io.Copy(archive, file)
	}
	return err
}
