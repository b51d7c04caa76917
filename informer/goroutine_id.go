package informer

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutineID tells goroutines apart. The Go runtime gives the number only in the head of a stack trace
// ("goroutine 18 [running]:"). It is asked for once per listener and once per waiting removal, and used for
// nothing but to turn a certain deadlock into [ErrInsideHandler].
func goroutineID() uint64 {
	var buf [64]byte
	head := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(head, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0 // a runtime that writes something else: no goroutine has this number, nothing is detected
	}
	return id
}
