package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"orrery/internal/lab/bench"
)

// Machine is the machine that measured, with the versions of the originals by module path.
type Machine struct {
	bench.Machine
	Modules map[string]string `json:"modules"`
}

// originals lists the modules whose versions are shown.
var originals = []string{"k8s.io/client-go", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime"}

// ThisMachine describes the machine. The originals' versions are those in the programs' build
// information.
func ThisMachine(programs ...string) Machine {
	m := Machine{Machine: bench.ThisMachine(), Modules: make(map[string]string)}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			continue
		}
		for _, module := range append(info.Deps, &info.Main) {
			if slices.Contains(originals, module.Path) {
				m.Modules[module.Path] = cmp.Or(module.Replace, module).Version
			}
		}
	}
	return m
}

// Results holds the result of a comparison, as build/bench.json has it.
type Results struct {
	Machine Machine  `json:"machine"`
	Records []Record `json:"records"`
}

// Targets returns the records with a target.
func (r Results) Targets() []Record {
	return slices.DeleteFunc(slices.Clone(r.Records), func(r Record) bool { return r.Kind == None })
}

// JSON returns the content of build/bench.json.
func (r Results) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// WriteTable writes all records for a terminal, and a sentence about the targets.
func (r Results) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "measure\tours\ttheirs\ttextbook\tratio\trounds\ttarget\tverdict")
	for _, r := range r.Records {
		cells := []string{
			r.Name, human(r.Ours, r.Unit), human(r.Theirs, r.Unit), textbook(r),
			times(r.Ratio), reach(r), wanted(r), string(r.Verdict),
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	err := table.Flush()
	if targets := r.Targets(); len(targets) > 0 {
		_, failed := fmt.Fprintf(w, "\n%s.\n", Summary(targets))
		err = cmp.Or(err, failed)
	}
	return err
}

// Summary returns a sentence about how many targets are met.
func Summary(targets []Record) string {
	missed := 0
	for _, r := range targets {
		if r.Verdict == Missed {
			missed++
		}
	}
	text := fmt.Sprintf("%d of %d targets met", len(targets)-missed, len(targets))
	if missed > 0 {
		text += fmt.Sprintf(", %d missed", missed)
	}
	return text
}
