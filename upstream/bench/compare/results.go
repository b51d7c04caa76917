package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Results holds the result of a comparison.
type Results struct {
	Machine Machine
	// Targets are the records with a target, Extras the others.
	Targets, Extras []Record
}

// extrasFile is the file beside the list of targets: build/bench-extras.json beside
// build/bench.json.
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

// Files returns the files to write, by path.
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

// ReadResults reads the files.
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

// WriteFiles writes all files or none: it writes each beside its place and renames them when all
// are written. It creates directories.
func WriteFiles(files map[string][]byte) (err error) {
	waiting := make(map[string]string, len(files)) // final paths by temporary path
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

// Line formats a record as one line.
func Line(r Record) string {
	line := fmt.Sprintf("%s: %s, theirs %s, ratio %s (%s)", r.Name, human(r.Ours, r.Unit), human(r.Theirs, r.Unit), times(r.Ratio), reach(r))
	if want := wanted(r); want != "" {
		line += ", wanted " + want
	}
	return line + ": " + string(r.Verdict)
}

// WriteTable writes the records as a table for a terminal.
func WriteTable(w io.Writer, records []Record) error {
	rows := [][]string{{"measure", "ours", "theirs", "textbook", "ratio", "rounds", "target", ""}}
	for _, r := range records {
		rows = append(rows, []string{
			r.Name, human(r.Ours, r.Unit), human(r.Theirs, r.Unit), textbook(r), times(r.Ratio), reach(r), wanted(r), string(r.Verdict),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 || i == len(row)-1 {
				line.WriteString(cell + pad + "  ") // words align left, numbers right
			} else {
				line.WriteString(pad + cell + "  ")
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Summary returns a sentence about how many targets are met.
func Summary(records []Record) string {
	count := make(map[Verdict]int)
	for _, r := range records {
		count[r.Verdict]++
	}
	if n := count[Shown]; n == len(records) {
		return fmt.Sprintf("%d measures, none with a target", n)
	}
	targets := len(records) - count[Shown]
	text := fmt.Sprintf("%d of %d targets met", count[Met], targets)
	if n := count[Missed]; n > 0 {
		text += fmt.Sprintf(", %d missed", n)
	}
	return text
}
