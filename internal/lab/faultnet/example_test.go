package faultnet_test

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"orrery/internal/lab/faultnet"
)

// A link breaks after so many bytes, and the reader is told what a real one would be told.
func Example() {
	var link faultnet.Link
	inner, server := faultnet.Pipe()
	client := link.Conn(inner)
	defer client.Close()

	link.CutAfter(7)
	io.WriteString(server, "halfway there")
	got, err := io.ReadAll(client)
	fmt.Printf("%q, reset: %t\n", got, errors.Is(err, syscall.ECONNRESET))
	fmt.Println("cuts:", link.Snapshot().Cuts)
	// Output:
	// "halfway", reset: true
	// cuts: 1
}
