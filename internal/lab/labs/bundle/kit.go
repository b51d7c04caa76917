package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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

// Count returns the number of files of the kit below a folder.
func (k *Kit) Count(folder string) (n int) {
	for name := range k.Files {
		if strings.HasPrefix(name, folder+"/") {
			n++
		}
	}
	return n
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
