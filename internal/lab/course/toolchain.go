package course

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Go runs the go command in a folder. ok reports whether it succeeded; output is what it printed.
// err reports that it could not run. It does without C, as "make build" does: so both share what is
// compiled.
func Go(ctx context.Context, dir string, arguments ...string) (output string, ok bool, err error) {
	return goWith(ctx, dir, []string{"CGO_ENABLED=0"}, arguments...)
}

// goWith is Go with these settings only.
func goWith(ctx context.Context, dir string, settings []string,
	arguments ...string) (output string, ok bool, err error) {
	scratch, err := os.MkdirTemp("", "orrery-lab-go-") // after Ctrl-C the go command leaves its folders behind
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(scratch)
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir, command.Env = dir, append(append(os.Environ(), "GOTMPDIR="+scratch), settings...)
	var text bytes.Buffer
	command.Stdout, command.Stderr = &text, &text
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // it ends its compilers then
	command.WaitDelay = 5 * time.Second
	err = command.Run()
	if ctx.Err() != nil {
		return "", false, ctx.Err()
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return text.String(), false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("the go command does not run: %w", err)
	}
	return text.String(), true, nil
}

// Toolchain is what the go command of this machine can do.
type Toolchain struct {
	Version string `json:"GOVERSION"`
	// Race reports whether it can build with the race detector, which needs a C compiler.
	Race bool   `json:"-"`
	CC   string `json:"CC"`

	CgoEnabled string `json:"CGO_ENABLED"`
}

// LookUpToolchain asks the go command.
func LookUpToolchain(ctx context.Context, dir string) (Toolchain, error) {
	var t Toolchain
	output, ok, err := goWith(ctx, dir, nil, "env", "-json", "GOVERSION", "CGO_ENABLED", "CC")
	if err != nil {
		return t, err
	}
	if !ok {
		return t, fmt.Errorf("go env fails: %s", strings.TrimSpace(output))
	}
	if err := json.Unmarshal([]byte(output), &t); err != nil {
		return t, fmt.Errorf("go env: %w", err)
	}
	if compiler := strings.Fields(t.CC); t.CgoEnabled == "1" && len(compiler) > 0 {
		_, err := exec.LookPath(compiler[0])
		t.Race = err == nil
	}
	return t, nil
}

// Build is what to build.
type Build struct {
	Repository string
	// Package is the folder of the package.
	Package string
	// Overlay is the file for -overlay.
	Overlay string
	Race    bool
	// Version is that of a program; "" leaves it unknown.
	Version string
}

// withoutTables leaves the tables for debuggers out: linking takes half as long.
const withoutTables = "-ldflags=-s"

// Test builds the package's tests into a binary.
func (b Build) Test(ctx context.Context, binary string) (output string, ok bool, err error) {
	arguments := []string{"test", "-c", withoutTables, "-overlay", b.Overlay, "-o", binary}
	if b.Race {
		return goWith(ctx, b.Repository, nil, append(arguments, "-race", "./"+b.Package)...)
	}
	return Go(ctx, b.Repository, append(arguments, "./"+b.Package)...)
}

// Program builds a program.
func (b Build) Program(ctx context.Context, binary string) (output string, ok bool, err error) {
	linker := withoutTables
	if b.Version != "" {
		linker += " -X orrery/internal/app/program.Version=" + b.Version
	}
	return Go(ctx, b.Repository, "build", "-buildvcs=false", linker, "-overlay", b.Overlay, "-o", binary,
		"./"+b.Package)
}

// Vet runs go vet on the package. A finding is one line.
func (b Build) Vet(ctx context.Context) (findings []string, err error) {
	output, ok, err := Go(ctx, b.Repository, "vet", "-overlay", b.Overlay, "./"+b.Package)
	if err != nil || ok {
		return nil, err
	}
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			findings = append(findings, strings.TrimPrefix(line, "vet: "))
		}
	}
	return findings, nil
}
