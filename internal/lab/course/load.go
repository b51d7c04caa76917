package course

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"orrery/internal/words"
)

// LabsFolder is where the labs are, relative to the repository.
const LabsFolder = "workshop/labs"

// LoadAll reads all labs of a repository, by id.
func LoadAll(repository string) ([]*Lab, error) {
	entries, err := os.ReadDir(filepath.Join(repository, LabsFolder))
	if err != nil {
		return nil, err
	}
	var labs []*Lab
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		lab, err := Load(filepath.Join(repository, LabsFolder, entry.Name()))
		if err != nil {
			return nil, err
		}
		labs = append(labs, lab)
	}
	slices.SortFunc(labs, func(a, b *Lab) int { return cmp.Compare(a.ID, b.ID) })
	return labs, nil
}

// Load reads the lab in a folder.
func Load(dir string) (*Lab, error) {
	lab := &Lab{Name: filepath.Base(dir), Dir: dir}
	err := cmp.Or(
		Read(filepath.Join(dir, "lab.yaml"), lab),
		Read(filepath.Join(dir, "mutants.yaml"), &lab.Mutants),
		Read(filepath.Join(dir, "predict.yaml"), &lab.Questions),
	)
	if err != nil {
		return nil, err
	}
	if len(lab.Files) == 0 {
		return nil, fmt.Errorf("%s/lab.yaml: files: no page is named", lab.Name)
	}
	return lab, nil
}

// Read reads a file with one YAML document. A field that the value lacks is an error.
func Read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s/%s: %w", filepath.Base(filepath.Dir(file)), filepath.Base(file), err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: one document is expected", file)
	}
	return nil
}

// Find returns the lab that a word means, or nil: an id, also without zeros, or the folder's name.
func Find(labs []*Lab, word string) *Lab {
	word = strings.ToLower(strings.TrimSuffix(word, "/"))
	number, noNumber := strconv.Atoi(word)
	for _, lab := range labs {
		id, _ := strconv.Atoi(lab.ID) // two digits
		if word == lab.Name || noNumber == nil && number == id {
			return lab
		}
	}
	return nil
}

// Mutate returns the page after the edits that concern it.
func (m *Mutant) Mutate(file, text string) (string, error) {
	for _, edit := range m.Edits {
		if edit.File != file {
			continue
		}
		if n := strings.Count(text, edit.Find); n != 1 {
			return "", fmt.Errorf("mutant %s: %q occurs %d times in %s, not once", m.ID, edit.Find, n, file)
		}
		text = strings.Replace(text, edit.Find, edit.Replace, 1)
	}
	return text, nil
}

//go:embed messages.yaml
var messageFile []byte

// Messages returns all messages by name.
var Messages = sync.OnceValue(func() map[string]words.Text {
	var all map[string]words.Text
	if err := yaml.Unmarshal(messageFile, &all); err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return all
})

// Message returns a message in both languages. The name must be one of [Messages].
func Message(name string) words.Text {
	text, ok := Messages()[name]
	if !ok {
		panic("there is no message " + name)
	}
	return text
}

// Say returns a message with its arguments. The name must be one of [Messages].
func Say(lang words.Lang, name string, arguments ...any) string {
	text := Message(name)
	form := text.English
	if lang == words.Chinese {
		form = text.Chinese
	}
	return fmt.Sprintf(form, arguments...)
}
