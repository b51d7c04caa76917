package house_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryFuzzTargetIsFed(t *testing.T) {
	s := newScripts(t)
	s.write("a/fuzz_test.go", "package a\n\nfunc FuzzOne(f *testing.F) {}\n\nfunc FuzzTwo(f *testing.F) {}\n", 0o644)
	s.write("b/c/x_test.go", "package c\n\nfunc FuzzThree(f *testing.F) {}\n", 0o644)
	s.write("upstream/y_test.go", "package upstream\n\nfunc FuzzOfAnotherModule(f *testing.F) {}\n", 0o644)
	s.program("go", `echo "$@"`)
	said, code := s.run("fuzz", "FUZZTIME=7s")
	assert.Zero(t, code, said)
	const flags = "-fuzztime=7s -fuzzminimizetime=2s"
	assert.Equal(t, "  a FuzzOne\ntest -run=^$ -fuzz=^FuzzOne$ "+flags+" ./a\n"+
		"  a FuzzTwo\ntest -run=^$ -fuzz=^FuzzTwo$ "+flags+" ./a\n"+
		"  b/c FuzzThree\ntest -run=^$ -fuzz=^FuzzThree$ "+flags+" ./b/c\n", said)

	_, code = newScripts(t).run("fuzz")
	assert.Equal(t, 1, code, "a repository without targets is not this one")
}
