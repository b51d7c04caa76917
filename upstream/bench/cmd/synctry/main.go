// Command synctry is a scratch driver.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"

	"orrery/internal/bench"
	"orrery/internal/bench/syncbench"
	"orrery/upstream/bench/theirs"
)

func main() {
	syncbench.ServeIfAsked()
	subject := syncbench.Orrery()
	if os.Args[1] == "theirs" {
		subject = theirs.Sync()
	}
	effort := bench.Full
	if len(os.Args) > 3 && os.Args[3] == "quick" {
		effort = bench.Quick
	}
	for _, s := range syncbench.Scenarios(subject) {
		if s.Name == "sync/"+os.Args[2] {
			if p := os.Getenv("CPUPROFILE"); p != "" {
				f, _ := os.Create(p)
				pprof.StartCPUProfile(f)
				defer pprof.StopCPUProfile()
			}
			o, err := s.Run(context.Background(), effort, nil)
			fmt.Println(os.Args[1], o, err)
			if p := os.Getenv("HEAPPROFILE"); p != "" {
				f, _ := os.Create(p)
				pprof.Lookup("heap").WriteTo(f, 0)
				f.Close()
			}
		}
	}
}
