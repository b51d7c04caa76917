package restclient

import "fmt"

// syntaxError says where a body stops being JSON. It names one byte of the body and nothing more: bodies can hold
// secrets.
type syntaxError struct {
	want   string
	got    byte
	offset int64
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("%q at byte %d where %s should be", e.got, e.offset, e.want)
}
