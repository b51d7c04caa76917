package house_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// systems are platforms for which the program must build, besides those where everything is
// tested: each has another operating system and a 32-bit int.
var systems = []struct{ os, architecture string }{{"windows", "amd64"}, {"darwin", "arm64"}, {"linux", "386"}}

// another is a platform that differs in both: code that does not build for one of systems seldom
// builds for it.
var another = []struct{ os, architecture string }{{"windows", "386"}}

func TestTheModuleFitsOtherSystems(t *testing.T) {
	checked := systems
	if testing.Short() {
		checked = another
	}
	for _, system := range checked {
		t.Run(system.os+"/"+system.architecture, func(t *testing.T) {
			t.Parallel()
			problems, err := checkTypes(token.NewFileSet(), system.os, system.architecture, nil)
			require.NoError(t, err)
			for _, problem := range problems {
				t.Error(problem)
			}
		})
	}
}

// listed holds the fields of `go list -json` that type checking uses.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// checkedPackage is a package of the module whose types have been checked.
type checkedPackage struct {
	path  string
	files []*ast.File
	info  *types.Info
}

// checkTypes returns the errors of a type check, for that platform, of the packages of the module.
// It calls visit, if it is not nil, for each of them. This is much cheaper than compiling: of other
// modules only the declarations are checked.
func checkTypes(
	fset *token.FileSet, system, architecture string, visit func(checkedPackage),
) (problems []error, err error) {
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0", "GOWORK=off")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return problems, nil
		} else if err != nil {
			return nil, err
		}
		ours := p.Module != nil && p.Module.Main
		config := types.Config{
			Importer:         importsOf{p.ImportMap, checked},
			Sizes:            types.SizesFor("gc", architecture),
			IgnoreFuncBodies: !ours,
			FakeImportC:      true,
			Error: func(err error) {
				if ours {
					problems = append(problems, err)
				}
			},
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		checked[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, info) // config.Error collects the errors
		if ours && visit != nil {
			visit(checkedPackage{p.ImportPath, files, info})
		}
	}
}

// importsOf resolves the imports of one package among the packages checked before it.
type importsOf struct {
	names   map[string]string // import path to actual path, for the vendored packages of the standard library
	checked map[string]*types.Package
}

func (i importsOf) Import(path string) (*types.Package, error) {
	if real, ok := i.names[path]; ok {
		path = real
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not among the dependencies", path)
}
