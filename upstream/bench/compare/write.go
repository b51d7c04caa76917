package compare

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFiles writes all files or none: each is written beside its place first, and only when all are there do they take
// their places. Directories are made.
func WriteFiles(files map[string][]byte) (err error) {
	waiting := make(map[string]string, len(files)) // places by the names of the files that wait for them
	defer func() {
		for name := range waiting {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		file, err := os.CreateTemp(filepath.Dir(path), ".bench-*")
		if err != nil {
			return err
		}
		waiting[file.Name()] = path
		_, writeErr := file.Write(content)
		if err := errors.Join(writeErr, file.Chmod(0o644), file.Close()); err != nil {
			return err
		}
	}
	for name, path := range waiting {
		if err := os.Rename(name, path); err != nil {
			return err
		}
		delete(waiting, name)
	}
	return nil
}
