package compare

// Page returns the files of the page by their names below docs: benchmarks.md and its pictures.
func Page(results Results) (map[string][]byte, error) {
	return map[string][]byte{}, nil
}
