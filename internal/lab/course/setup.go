//go:build ignore

// This program prepares a machine without network from an unpacked kit: it fills Go's module cache
// from the modules of the kit and builds bin/lab and bin/orrery. It imports the standard library
// alone, because "go run" has no other module yet. After it, go needs no network and no setting.
package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, "setup:", err)
		os.Exit(1)
	}
}

func setUp() error {
	version, err := os.ReadFile(filepath.FromSlash("kit/version"))
	if err != nil {
		return fmt.Errorf("run it in the folder that has START.md: %w", err)
	}
	modules, err := filepath.Abs(filepath.FromSlash("kit/modules"))
	if err != nil {
		return err
	}
	proxy := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(modules), "/")}
	// go.sum has all checksums, so the checksum database is not asked.
	environment := append(os.Environ(), "GOPROXY="+proxy.String(), "GOSUMDB=off", "GONOPROXY=none", "GOTOOLCHAIN=local",
		"CGO_ENABLED=0")
	for _, step := range []struct {
		says      string
		arguments []string
	}{
		{"filling Go's module cache", []string{"mod", "download"}},
		{"reading each module's requirements, for editors", []string{"mod", "graph"}},
		{"building bin/orrery and bin/lab", []string{"build", "-ldflags",
			"-X orrery/internal/app/program.Version=" + string(version), "-o", "bin" + string(filepath.Separator),
			"./cmd/orrery", "./cmd/lab"}},
	} {
		fmt.Println("==>", step.says)
		command := exec.Command("go", step.arguments...)
		command.Env, command.Stderr = environment, os.Stderr
		if err := command.Run(); err != nil {
			return fmt.Errorf("go %s: %w", strings.Join(step.arguments[:2], " "), err)
		}
	}
	fmt.Printf("Next: %s doctor\n", filepath.Join("bin", "lab"))
	return nil
}
