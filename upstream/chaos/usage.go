package chaos

import "fmt"

// usage is what a process takes. Zero is not known.
type usage struct {
	memory     int64 // resident, in bytes
	goroutines int
	files      int // open
}

func (u usage) String() string {
	return fmt.Sprintf("%d MB, %d goroutines, %d files", u.memory>>20, u.goroutines, u.files)
}
