package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orrery/internal/lab/bench"
)

// write writes the records and the page to the selected files.
func (o *options) write(results Results) error {
	files := make(map[string][]byte)
	if o.jsonFile != "" {
		records, err := results.JSON()
		if err != nil {
			return err
		}
		files[o.jsonFile] = records
	}
	if o.page != "" {
		page, err := Page(results)
		if err != nil {
			return err
		}
		for name, content := range page {
			files[filepath.Join(o.page, name)] = content
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, files[name], 0o644); err != nil {
			return err
		}
		fmt.Println("wrote", name)
	}
	return nil
}

// renderOnly writes the page from the records of the last comparison.
func (o *options) renderOnly() error {
	results, err := ReadResults(o.jsonFile)
	if err != nil {
		return err
	}
	o.jsonFile = ""
	return o.write(results)
}

// console shows the progress on stderr: on a terminal as a line that is rewritten. It also prints a
// line for each finished measure.
type console struct {
	meter bench.Meter
	hide  func() // removes the line that is rewritten
	began time.Time
}

func newConsole() *console {
	c := &console{began: time.Now()}
	c.hide = bench.ShowProgress(os.Stderr, &c.meter)
	return c
}

// turn shows the current turn.
func (c *console) turn(name string) { c.meter.Begin(name) }

// finished prints the records of a scenario.
func (c *console) finished(records []Record, err error) {
	c.meter.End()
	for _, r := range records {
		c.say("%5s  %s", time.Since(c.began).Round(time.Second), Line(r))
	}
	if err != nil {
		c.say("%5s  FAILED: %v", time.Since(c.began).Round(time.Second), err)
	}
}

// say prints a line above the one that is rewritten.
func (c *console) say(format string, arguments ...any) {
	c.hide()
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	c.hide = bench.ShowProgress(os.Stderr, &c.meter)
}

// close ends the progress line.
func (c *console) close() { c.hide() }
