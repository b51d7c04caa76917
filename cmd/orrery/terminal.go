package main

import "os"

// wantsColor tells whether the file is a terminal whose user has not asked for plain text (https://no-color.org).
func wantsColor(file *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
