package house_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Output of go test -fuzz for FuzzParse in a/b.
const (
	fuzzProgress = "fuzz: elapsed: 0s, gathering baseline coverage: 0/9 completed\nfuzz: elapsed: 20s, execs: 9 (1/sec), new interesting: 0 (total: 9)\n"
	fuzzEnd      = "--- FAIL: FuzzParse (20.10s)\n    context deadline exceeded\nFAIL\nexit status 1\nFAIL\torrery/a/b\t20.113s\n"
	fuzzFinding  = "--- FAIL: FuzzParse (3.10s)\n    --- FAIL: FuzzParse (0.00s)\n        fuzz_test.go:9: context deadline exceeded\n\n" +
		"    Failing input written to testdata/fuzz/FuzzParse/771e938e4458e983\nFAIL\nexit status 1\nFAIL\torrery/a/b\t3.113s\n"
)

func TestFuzzingFailsForFindingsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		says    string
		writes  string // the file of a failing input
		code    int
		succeed bool
	}{
		"nothing found":                          {fuzzProgress + "PASS\n", "", 0, true},
		"a finding":                              {fuzzProgress + fuzzFinding, "771e938e4458e983", 1, false},
		"the end of the time":                    {fuzzProgress + fuzzEnd, "", 1, true},
		"the end, a failing input was written":   {fuzzProgress + fuzzEnd, "771e938e4458e983", 1, false},
		"the end, a failing input was minimized": {"fuzz: minimizing 30-byte failing input file\n" + fuzzProgress + fuzzEnd, "", 1, false},
		"a seed":                                 {fuzzProgress + "failure while testing seed corpus entry: FuzzParse/seed#0\n" + fuzzEnd, "", 1, false},
		"another error":                          {fuzzProgress + strings.Replace(fuzzEnd, "exceeded\n", "exceeded\n    and more\n", 1), "", 1, false},
		"another target":                         {fuzzProgress + strings.Replace(fuzzEnd, "FuzzParse", "FuzzOther", 1), "", 1, false},
		"the test's own deadline":                {fuzzProgress + strings.Replace(fuzzEnd, "    context", "    fuzz_test.go:9: context", 1), "", 1, false},
		"a data race":                            {fuzzProgress + "WARNING: DATA RACE\n" + fuzzEnd, "", 1, false},
		"it does not compile":                    {"# orrery/a/b\na.go:1:1: expected package\nFAIL\torrery/a/b [build failed]\nFAIL\n", "", 1, false},
	} {
		s := newScripts(t)
		s.write("a/b/fuzz_test.go", "package b\n\nfunc FuzzParse(f *testing.F) {\n", 0o644)
		s.write("a/b/testdata/fuzz/FuzzParse/0123456789abcdef", "a regression of the past", 0o644)
		s.write("says", c.says, 0o644)
		lines := "echo \"$@\" >> calls; cat says\n"
		if c.writes != "" {
			lines += "echo input > a/b/testdata/fuzz/FuzzParse/" + c.writes + "\n"
		}
		s.program("go", lines+"exit "+string(rune('0'+c.code)))
		said, code := s.run("fuzz", "FUZZTIME=20s")
		assert.Equal(t, c.succeed, code == 0, "%s: %d, %s", name, code, said)
		assert.Contains(t, said, c.says, name)
		assert.Equal(t, c.succeed && c.code != 0, strings.Contains(said, "golang/go#75804"), name)
		assert.FileExists(t, filepath.Join(s.root, "calls"))
	}
}

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
