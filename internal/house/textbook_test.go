package house_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// textbookPage is a file that explains a mechanism: a reader deletes it and rebuilds it.
type textbookPage struct {
	file  string
	lines int      // at most
	says  []string // the article's identifiers, which it declares
	fast  []string // packages with another form of the same mechanism
}

// textbookPages are the pages of the textbook.
var textbookPages = []textbookPage{
	{"wait/until.go", 260, []string{"Forever", "Until", "NonSlidingUntil", "JitterUntil"}, nil},
	{"queue/queue.go", 260, []string{"Queue.dirty", "Queue.processing", "Queue.queue", "Queue.Add", "Queue.Get",
		"Queue.Done"}, []string{"queue/fast"}},
	{"queue/delaying.go", 260, []string{"DelayingQueue.AddAfter", "DelayingQueue.waitingForQueue",
		"waitForPriorityQueue"}, []string{"queue/fast"}},
	{"queue/ratelimiters.go", 260, []string{"ItemExponentialFailureRateLimiter", "BucketRateLimiter",
		"MaxOfRateLimiter"}, nil},
	{"deltafifo/fifo.go", 260, []string{"DeltaFIFO.items", "DeltaFIFO.queue", "DeltaFIFO.knownObjects",
		"DeltaFIFO.queueActionLocked",
		"DeltaFIFO.initialPopulationCount", "DeltaFIFO.Replace", "DeltaFIFO.Resync", "DeltaFIFO.Pop"},
		[]string{"deltafifo/fast", "deltafifo/inorder"}},
	{"deltafifo/inorder/fifo.go", 260, []string{"RealFIFO.items", "RealFIFO.Replace", "RealFIFO.Resync",
		"RealFIFO.Pop"}, []string{"deltafifo/fast"}},
	{"indexer/store.go", 260, []string{"threadSafeMap.items", "threadSafeMap.indexers", "threadSafeMap.indices",
		"threadSafeMap.updateIndices"}, []string{"indexer/fast"}},
	{"informer/processor.go", 260, []string{"sharedProcessor", "processorListener", "processorListener.addCh",
		"processorListener.nextCh",
		"processorListener.pendingNotifications", "processorListener.add", "processorListener.pop",
		"processorListener.run"}, []string{"informer/fast"}},
	{"informer/handle_deltas.go", 260, []string{"SharedIndexInformer.handleDeltas"}, nil},
	{"informer/reflector/reflector.go", 260, []string{"Reflector.ListAndWatch", "Reflector.syncWith",
		"Reflector.watchHandler"}, []string{"informer/reflector/machine"}},
	{"controller/pool.go", 260, []string{"Pool.Run", "Pool.runWorker", "Pool.processNextWorkItem",
		"Pool.requeue"}, nil},
	{"nsctl/deleter.go", 340, []string{"namespacedResourcesDeleter.Delete",
		"namespacedResourcesDeleter.retryOnConflictError",
		"namespacedResourcesDeleter.finalizeNamespace", "namespacedResourcesDeleter.deleteAllContent",
		"namespacedResourcesDeleter.deleteAllContentForGroupVersionResource",
		"namespacedResourcesDeleter.deleteCollection",
		"namespacedResourcesDeleter.deleteEachItem", "namespacedResourcesDeleter.listCollection",
		"namespacedResourcesDeleter.estimateGracefulTermination"}, []string{"nsctl/fast"}},
	{"examples/virtualmachine/controller.go", 260,
		[]string{"Controller.syncHandler", "Controller.createServer", "Controller.makeTerminatingPhase",
			"Controller.deleteServer"}, nil},
	{"restclient/api/statuserror.go", 260, []string{"StatusError", "ReasonForCode", "IsNotFound", "IsConflict",
		"IsExpired"}, nil},
	{"restclient/watch_decoder.go", 260, []string{"watchDecoder", "watchDecoder.Next"}, []string{"restclient/fast"}},
}

// countLines counts the lines of a file, as wc -l does.
func countLines(t *testing.T, file string) int { return strings.Count(readDocument(t, file), "\n") }

// A page has a bounded length, and the names of the article.
func TestPagesOfTheTextbook(t *testing.T) {
	for _, page := range textbookPages {
		assert.LessOrEqual(t, countLines(t, page.file), page.lines, page.file)
		for _, name := range page.says {
			assert.NoError(t, declares(page.file, name), "a name of the article")
		}
	}
}

// A page can be deleted and rewritten only if other code uses nothing but its exported names and
// its constructors. So no file may use
//   - a private field of a page, outside the page;
//   - anything that the page declares, in a package with another form of it.
func TestPagesCanBeTakenOut(t *testing.T) {
	absolute, err := filepath.Abs(root)
	require.NoError(t, err)
	fset, uses := token.NewFileSet(), 0
	fileOf := func(at token.Pos) string {
		file, err := filepath.Abs(fset.Position(at).Filename)
		require.NoError(t, err)
		return strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(absolute)+"/")
	}
	visitTypes(t, fset, func(info *types.Info) {
		for identifier, object := range info.Uses {
			if object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), module) {
				continue
			}
			declared := fileOf(object.Pos())
			at := slices.IndexFunc(textbookPages, func(page textbookPage) bool { return page.file == declared })
			if at < 0 {
				continue
			}
			file := fileOf(identifier.Pos())
			field, isField := object.(*types.Var)
			switch private := isField && field.IsField() && !object.Exported(); {
			case private && file == declared:
				uses++
			case private:
				t.Errorf("%s uses %s, a private field of the page %s", file, object.Name(), declared)
			case slices.Contains(textbookPages[at].fast, path.Dir(file)):
				t.Errorf("%s, another form, uses %s, which the page %s declares", file, object.Name(), declared)
			}
		}
	})
	assert.Greater(t, uses, 200, "the pages use their own fields, and that was seen")
}

// importing finds the packages that a package imports.
type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// visitTypes calls visit for each package of the module, with what its identifiers refer to. Of
// other modules only the declarations are read, which is much cheaper than compiling.
func visitTypes(t *testing.T, fset *token.FileSet, visit func(*types.Info)) {
	packages, err := goList("-deps", "./...")
	require.NoError(t, err)
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range packages {
		if p.ImportPath == "unsafe" {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
		ours := p.Module != nil && p.Module.Main
		config := types.Config{
			Importer: importing(func(path string) (*types.Package, error) {
				return known[cmp.Or(p.ImportMap[path], path)], nil // the standard library has vendored packages
			}),
			IgnoreFuncBodies: !ours, FakeImportC: true,
			Error: func(err error) { assert.False(t, ours, "%v", err) },
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		known[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, info) // Error has the errors
		if ours {
			visit(info)
		}
	}
}
