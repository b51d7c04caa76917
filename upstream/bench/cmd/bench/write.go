package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"orrery/upstream/bench/compare"
)

// write writes the records and the page to the selected files.
func (o *options) write(results compare.Results) error {
	files := make(map[string][]byte)
	if o.jsonFile != "" {
		records, err := results.Files(o.jsonFile)
		if err != nil {
			return err
		}
		maps.Copy(files, records)
	}
	if o.page != "" {
		page, err := compare.Page(results)
		if err != nil {
			return err
		}
		for name, content := range page {
			files[filepath.Join(o.page, name)] = content
		}
	}
	if len(files) == 0 {
		return nil
	}
	if err := compare.WriteFiles(files); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Println("wrote", name)
	}
	return nil
}

// renderOnly writes the page from the records of the last comparison.
func (o *options) renderOnly() error {
	results, err := compare.ReadResults(o.jsonFile)
	if err != nil {
		return err
	}
	o.jsonFile = ""
	return o.write(results)
}
