// Package bundle makes the offline kit of the workshop: one archive with the repository, the
// modules that it needs, and archives of Go. Unpacked on a machine without network, the program in
// setup fills Go's module cache from it. The modules are source code, so one kit serves every
// operating system. The kit has the zips of the module cache, not its folders: they have a quarter
// of the size, and the go command accepts them as a module proxy.
package bundle

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/bench"
)

// Config says what to bundle.
type Config struct {
	Repository string
	// Archives are archives of Go, downloaded from go.dev/dl.
	Archives []string
	// File is the kit to write.
	File string
	// Version is the version of the repository.
	Version string
	// Meter gets the progress. It may be nil.
	Meter *bench.Meter
}

// Part is a part of a kit.
type Part struct {
	// Name is repository, modules or go.
	Name  string
	Files int
	Bytes int64
}

// Part names.
const (
	RepositoryPart = "repository"
	ModulesPart    = "modules"
	GoPart         = "go"
)

//go:embed start.md
var startPage string

// startWithoutGo turns the page into the one for a kit without archives of Go.
var startWithoutGo = strings.NewReplacer(
	"install Go from `kit/go`", "install it from https://go.dev/dl; this kit has no archive of Go",
	"否则请用 `kit/go` 里的安装包安装 Go", "否则请从 https://go.dev/dl 下载安装（这个离线包里没有 Go 安装包）",
)

// startName is the name of the page to read first.
const startName = "START.md"

// Root is the folder that the archive unpacks to.
const Root = "orrery"

// entry is a file of a kit: text, or else a file on disk.
type entry struct {
	part, name string
	file       string
	text       []byte
	mode       int64
}

// PartialFile returns the name of the file that holds a kit until it is complete.
func PartialFile(file string) string { return file + ".part" }

// Write writes a kit. A kit that is not complete leaves no file.
func Write(ctx context.Context, config Config) (parts []Part, err error) {
	entries, err := config.entries(ctx)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(PartialFile(config.File))
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name()) // after the renaming there is none
	defer file.Close()
	if parts, err = config.write(ctx, file, entries); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return parts, os.Rename(file.Name(), config.File)
}

// entries returns all files of the kit but [kitFile].
func (config Config) entries(ctx context.Context) (entries []entry, err error) {
	names, err := Tracked(ctx, config.Repository)
	if err != nil {
		return nil, err
	}
	start := startPage
	if len(config.Archives) == 0 {
		start = startWithoutGo.Replace(start)
	}
	entries = append(entries, entry{part: RepositoryPart, name: startName, text: []byte(start), mode: 0o644})
	for _, name := range names {
		entries = append(entries, entry{part: RepositoryPart, name: name, file: filepath.Join(config.Repository, filepath.FromSlash(name))})
	}
	modules, err := config.modules(ctx)
	if err != nil {
		return nil, err
	}
	entries = append(entries, modules...)
	for _, archive := range config.Archives {
		entries = append(entries, entry{part: GoPart, name: path.Join(Folder, "go", filepath.Base(archive)), file: archive})
	}
	return entries, nil
}

// ErrNoClone reports that the repository is not a git clone.
var ErrNoClone = errors.New("this folder is not a git clone")

// Tracked returns the files of the repository that git tracks, except those that were deleted.
func Tracked(ctx context.Context, repository string) (names []string, err error) {
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
		if info, err := os.Lstat(filepath.Join(repository, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names, nil
}

// write writes the archive, with [kitFile] as its last file.
func (config Config) write(ctx context.Context, out io.Writer, entries []entry) (parts []Part, err error) {
	zipped := gzip.NewWriter(out)
	archive := tar.NewWriter(zipped)
	kit := Kit{Version: config.Version, Files: map[string]string{}}
	total, err := totalSize(entries)
	if err != nil {
		return nil, err
	}
	config.Meter.Begin(filepath.Base(config.File), 0, total)
	defer config.Meter.End()
	written := counter{ctx, config.Meter, archive}
	for _, e := range entries {
		size, sum, err := e.write(archive, written)
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 || parts[len(parts)-1].Name != e.part {
			parts = append(parts, Part{Name: e.part})
		}
		part := &parts[len(parts)-1]
		part.Files++
		part.Bytes += size
		kit.Files[e.name] = sum
	}
	text, err := json.MarshalIndent(kit, "", " ")
	if err != nil {
		return nil, err
	}
	if _, _, err := (entry{name: kitFile, text: text, mode: 0o644}).write(archive, archive); err != nil {
		return nil, err
	}
	return parts, errors.Join(archive.Close(), zipped.Close())
}

// totalSize returns the number of bytes of all entries.
func totalSize(entries []entry) (total int64, err error) {
	for _, e := range entries {
		total += int64(len(e.text))
		if e.file != "" {
			info, err := os.Stat(e.file)
			if err != nil {
				return 0, err
			}
			total += info.Size()
		}
	}
	return total, nil
}

// counter passes bytes on and counts them, until its context ends.
type counter struct {
	ctx   context.Context
	meter *bench.Meter
	to    io.Writer
}

func (c counter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.to.Write(p)
	c.meter.Count(n)
	return n, err
}

// write adds the file to an archive, its content through content, and returns its checksum.
func (e entry) write(archive *tar.Writer, content io.Writer) (size int64, sum string, err error) {
	header := &tar.Header{Name: path.Join(Root, e.name), Size: int64(len(e.text)), Mode: e.mode, ModTime: time.Now()}
	var from io.Reader = strings.NewReader(string(e.text))
	if e.file != "" {
		file, err := os.Open(e.file)
		if err != nil {
			return 0, "", err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return 0, "", err
		}
		header.Size, header.Mode, header.ModTime = info.Size(), int64(info.Mode().Perm()|0o600), info.ModTime()
		from = file
	}
	if err := archive.WriteHeader(header); err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(content, hash), from)
	return header.Size, hex.EncodeToString(hash.Sum(nil)), err
}

// Folder is the folder of a kit for everything that is not the repository.
const Folder = "kit"

// kitFile lists the files of a kit.
const kitFile = Folder + "/kit.json"

// Kit describes an unpacked kit.
type Kit struct {
	Version string `json:"version"`
	// Files has the SHA-256 of each file.
	Files map[string]string `json:"files"`
}

// Read returns the kit that a repository was unpacked from, or nil if it is a clone.
func Read(repository string) (*Kit, error) {
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(kitFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var kit Kit
	if err := json.Unmarshal(text, &kit); err != nil {
		return nil, fmt.Errorf("%s: %w", kitFile, err)
	}
	return &kit, nil
}

// Differences returns the files below a folder of the kit that are missing or changed: "" is the
// whole kit.
func (k *Kit) Differences(repository, folder string) (missing, changed []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(k.Files)) {
		if name != folder && !strings.HasPrefix(name, folder+"/") && folder != "" {
			continue
		}
		sum, err := checksum(filepath.Join(repository, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, name)
		case err != nil:
			return nil, nil, err
		case sum != k.Files[name]:
			changed = append(changed, name)
		}
	}
	return missing, changed, nil
}

func checksum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return hex.EncodeToString(hash.Sum(nil)), err
}
