package faults_test

import (
	"context"
	"fmt"

	"orrery/internal/lab/apiserver/faults"
)

// The next two lists of secrets are refused; everything else passes.
func Example() {
	set := faults.New()
	defer set.Stop()
	id, err := set.Add("too-many-requests:resource=secrets,verb=list,retry-after=2s,count=2")
	fmt.Println(id, err)

	secrets := faults.Request{Verb: "list", Version: "v1", Resource: "secrets", Namespace: "shop"}
	for range 3 {
		if refused := set.Before(context.Background(), secrets); refused != nil {
			fmt.Println(refused.Status.Code, refused, "come back in", refused.RetryAfter)
		} else {
			fmt.Println("answered")
		}
	}
	// Output:
	// too-many-requests-1 <nil>
	// 429 Too many requests, please try again later. come back in 2s
	// 429 Too many requests, please try again later. come back in 2s
	// answered
}

// The error for a mistyped fault says what would be valid.
func ExampleSet_Add() {
	_, err := faults.New().Add("delay:by=half a second")
	fmt.Println(err)
	// Output:
	// fault "delay:by=half a second": by=half a second: must be a duration such as 300ms, 10s or 2m
}
