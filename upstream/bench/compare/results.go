package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Results are all that a comparison has found out.
type Results struct {
	Machine Machine
	// Targets are the records of measures with a target, Extras are the others.
	Targets, Extras []Record
}

// extrasFile is what stands beside the list of targets: build/bench-extras.json beside build/bench.json.
type extrasFile struct {
	Machine Machine  `json:"machine"`
	Extras  []Record `json:"extras"`
}

// NewResults sorts the records.
func NewResults(machine Machine, records []Record) Results {
	r := Results{Machine: machine, Targets: []Record{}, Extras: []Record{}}
	for _, record := range records {
		if record.TargetKind == None {
			r.Extras = append(r.Extras, record)
		} else {
			r.Targets = append(r.Targets, record)
		}
	}
	return r
}

// Files returns what Write writes, by path.
func (r Results) Files(path string) (map[string][]byte, error) {
	targets, err := marshal(r.Targets)
	if err != nil {
		return nil, err
	}
	extras, err := marshal(extrasFile{Machine: r.Machine, Extras: r.Extras})
	if err != nil {
		return nil, err
	}
	return map[string][]byte{path: targets, extrasPath(path): extras}, nil
}

// ReadResults reads what was written.
func ReadResults(path string) (Results, error) {
	var r Results
	if err := unmarshal(path, &r.Targets); err != nil {
		return Results{}, err
	}
	var more extrasFile
	if err := unmarshal(extrasPath(path), &more); err != nil {
		return Results{}, err
	}
	r.Machine, r.Extras = more.Machine, more.Extras
	return r, nil
}

// WriteTable writes all records for a terminal, and a sentence about the targets.
func (r Results) WriteTable(w io.Writer) error {
	for _, part := range [][]Record{r.Targets, r.Extras} {
		if len(part) == 0 {
			continue
		}
		if err := WriteTable(w, part); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	if len(r.Targets) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, Summary(r.Targets)+".")
	return err
}

// record returns the record of a measure.
func (r Results) record(name string) (Record, bool) {
	for _, record := range slices.Concat(r.Targets, r.Extras) {
		if record.Name == name {
			return record, true
		}
	}
	return Record{}, false
}

func extrasPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + "-extras" + filepath.Ext(path)
}

func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func unmarshal(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
