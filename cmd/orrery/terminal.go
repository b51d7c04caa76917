package main

import (
	"io"
	"os"
)

// wantsColor tells whether w is a terminal whose user has not asked for plain text (https://no-color.org).
func wantsColor(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
