package why

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// WriteJSON writes a [Report], or [Reports], as one JSON document.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// WriteYAML writes the same as one YAML document, with the names of the JSON.
func WriteYAML(w io.Writer, document any) error {
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return err
	}
	return encoder.Close()
}

// Save writes the evidence to a file that its owner alone can read. It replaces the file in one
// step.
func (e Evidence) Save(path string) error {
	e.APIVersion = EvidenceVersion
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(e); err != nil {
		return fmt.Errorf("the evidence cannot be written: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("the evidence cannot be saved: %w", err)
	}
	_, err = file.Write(text.Bytes())
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("the evidence cannot be saved: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// Load reads saved evidence. It fails if the file is not one that [Evidence.Save] has written.
func Load(path string) (Evidence, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Evidence{}, fmt.Errorf("the evidence cannot be read: %w", err)
	}
	var e Evidence
	if err := json.Unmarshal(text, &e); err != nil {
		return Evidence{}, fmt.Errorf("%s is not saved evidence: %w", path, err)
	}
	if e.APIVersion != EvidenceVersion {
		return Evidence{}, fmt.Errorf("%s is not saved evidence of this version: its apiVersion is %q, not %q", path,
			e.APIVersion, EvidenceVersion)
	}
	if !IsNamespaceName(e.Name) {
		return Evidence{}, fmt.Errorf("%s is not saved evidence: %q is not the name of a namespace", path, e.Name)
	}
	return e, nil
}

// IsNamespaceName reports whether a namespace may be called so.
func IsNamespaceName(name string) bool { return namespaceName().MatchString(name) }

var namespaceName = lazyPattern(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
