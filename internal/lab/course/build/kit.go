package build

import (
	"archive/tar"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Kit says what goes into the offline kit of the workshop: one archive with the repository, the
// modules that it needs, and archives of Go. Unpacked on a machine without network, the program in
// the folder setup fills Go's module cache from it. The modules are source code, so one kit serves
// every operating system. The kit has the zips of a module cache, not its folders: they have a
// quarter of the size, and the go command accepts them as a module proxy.
type Kit struct {
	Repository string
	// Archives are archives of Go, downloaded from go.dev/dl.
	Archives []string
	// File is the kit to write.
	File string
	// Version is the version of the repository.
	Version string
}

// Part is a part of a kit.
type Part struct {
	// Name is repository, modules or go.
	Name  string
	Files int
	Bytes int64
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

// kitFile is a file of a kit: text, or else a file on disk.
type kitFile struct {
	part, name string
	file       string
	text       string
}

// PartialKit returns the name of the file that holds a kit until it is complete.
func PartialKit(file string) string { return file + ".part" }

// WriteKit writes a kit. A kit that is not complete leaves no file.
func WriteKit(ctx context.Context, k Kit) (parts []Part, err error) {
	scratch, err := os.MkdirTemp("", "orrery-kit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	entries, err := k.entries(ctx, scratch)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(PartialKit(k.File))
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name()) // after the renaming there is none
	defer file.Close()
	if parts, err = writeArchive(ctx, file, entries); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return parts, os.Rename(file.Name(), k.File)
}

// entries returns all files of the kit. The modules are in scratch until they have been written.
func (k Kit) entries(ctx context.Context, scratch string) (entries []kitFile, err error) {
	names, err := tracked(ctx, k.Repository)
	if err != nil {
		return nil, err
	}
	entries = []kitFile{
		{part: "repository", name: "START.md", text: startPage},
		{part: "repository", name: kitFolder + "/version", text: k.Version},
	}
	for _, name := range names {
		file := filepath.Join(k.Repository, filepath.FromSlash(name))
		entries = append(entries, kitFile{part: "repository", name: name, file: file})
	}
	modules, err := k.modules(ctx, scratch)
	if err != nil {
		return nil, err
	}
	entries = append(entries, modules...)
	for _, archive := range k.Archives {
		name := path.Join(kitFolder, "go", filepath.Base(archive))
		entries = append(entries, kitFile{part: "go", name: name, file: archive})
	}
	return entries, nil
}

// ErrNoClone reports that the repository is not a git clone.
var ErrNoClone = errors.New("this folder is not a git clone")

// tracked returns the files of the repository that git tracks, except those that were deleted.
func tracked(ctx context.Context, repository string) (names []string, err error) {
	command := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached")
	command.Dir = repository
	output, err := command.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoClone, err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(output), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(repository, filepath.FromSlash(name)))
		if err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names, nil
}

// modules returns the files of a module cache in the layout of a proxy: all that builds and tests
// of the main module need, and the requirements of each module, for editors. The cache in scratch
// is filled from that of this machine, and from the network where that lacks something.
func (k Kit) modules(ctx context.Context, scratch string) (entries []kitFile, err error) {
	settings, err := k.run(ctx, nil, "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	cache, proxies, _ := strings.Cut(strings.TrimSpace(settings), "\n")
	local := url.URL{Scheme: "file", Path: path.Join("/", filepath.ToSlash(cache), "cache/download")}
	environment := []string{"GOMODCACHE=" + scratch, "GOPROXY=" + local.String() + "," + proxies, "GOFLAGS=-modcacherw"}
	for _, command := range []string{"download", "graph"} {
		if _, err := k.run(ctx, environment, "mod", command); err != nil {
			return nil, err
		}
	}
	download := filepath.Join(scratch, "cache", "download")
	err = filepath.WalkDir(download, func(file string, found fs.DirEntry, err error) error {
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
		name = path.Join(kitFolder, "modules", filepath.ToSlash(name))
		entries = append(entries, kitFile{part: "modules", name: name, file: file})
		return err
	})
	return entries, err
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

// writeArchive writes the archive.
func writeArchive(ctx context.Context, out io.Writer, entries []kitFile) (parts []Part, err error) {
	zipped := gzip.NewWriter(out)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		size, err := e.write(archive)
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 || parts[len(parts)-1].Name != e.part {
			parts = append(parts, Part{Name: e.part})
		}
		part := &parts[len(parts)-1]
		part.Files++
		part.Bytes += size
	}
	return parts, errors.Join(archive.Close(), zipped.Close())
}

// write adds the file to an archive. What is read-only there can be replaced by its owner here.
func (e kitFile) write(archive *tar.Writer) (size int64, err error) {
	header := &tar.Header{Name: path.Join(KitRoot, e.name), Size: int64(len(e.text)), Mode: 0o644, ModTime: time.Now()}
	var from io.Reader = strings.NewReader(e.text)
	if e.file != "" {
		file, err := os.Open(e.file)
		if err != nil {
			return 0, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return 0, err
		}
		header.Size, header.Mode, header.ModTime = info.Size(), int64(info.Mode().Perm()|0o600), info.ModTime()
		from = file
	}
	if err := archive.WriteHeader(header); err != nil {
		return 0, err
	}
	return io.Copy(archive, from)
}
