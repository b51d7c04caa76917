package house_test

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"runtime"
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
	{"queue/queue.go", 260, []string{"Queue.dirty", "Queue.processing", "Queue.queue", "Queue.Add", "Queue.Get", "Queue.Done"}, []string{"queue/fast"}},
	{"queue/delaying.go", 260, []string{"DelayingQueue.AddAfter", "DelayingQueue.waitingForQueue", "waitForPriorityQueue"}, []string{"queue/fast"}},
	{"queue/ratelimiters.go", 260, []string{"ItemExponentialFailureRateLimiter", "BucketRateLimiter", "MaxOfRateLimiter"}, nil},
	{"deltafifo/fifo.go", 260, []string{"DeltaFIFO.items", "DeltaFIFO.queue", "DeltaFIFO.knownObjects", "DeltaFIFO.queueActionLocked",
		"DeltaFIFO.initialPopulationCount", "DeltaFIFO.Replace", "DeltaFIFO.Resync", "DeltaFIFO.Pop"}, []string{"deltafifo/fast", "deltafifo/inorder"}},
	{"deltafifo/inorder/fifo.go", 260, []string{"RealFIFO.items", "RealFIFO.Replace", "RealFIFO.Resync", "RealFIFO.Pop"}, []string{"deltafifo/fast"}},
	{"indexer/store.go", 260, []string{"threadSafeMap.items", "threadSafeMap.indexers", "threadSafeMap.indices", "threadSafeMap.updateIndices"}, []string{"indexer/fast"}},
	{"informer/processor.go", 260, []string{"sharedProcessor", "processorListener", "processorListener.addCh", "processorListener.nextCh",
		"processorListener.pendingNotifications", "processorListener.add", "processorListener.pop", "processorListener.run"}, []string{"informer/fast"}},
	{"informer/handle_deltas.go", 260, []string{"SharedIndexInformer.handleDeltas"}, nil},
	{"informer/reflector/reflector.go", 260, []string{"Reflector.ListAndWatch", "Reflector.syncWith", "Reflector.watchHandler"}, []string{"informer/reflector/machine"}},
	{"nsctl/deleter.go", 340, []string{"namespacedResourcesDeleter.Delete", "namespacedResourcesDeleter.retryOnConflictError",
		"namespacedResourcesDeleter.finalizeNamespace", "namespacedResourcesDeleter.deleteAllContent",
		"namespacedResourcesDeleter.deleteAllContentForGroupVersionResource", "namespacedResourcesDeleter.deleteCollection",
		"namespacedResourcesDeleter.deleteEachItem", "namespacedResourcesDeleter.listCollection",
		"namespacedResourcesDeleter.estimateGracefulTermination"}, []string{"nsctl/fast"}},
	{"examples/virtualmachine/controller.go", 260, []string{"Controller.syncHandler", "Controller.createServer", "Controller.makeTerminatingPhase",
		"Controller.deleteServer"}, nil},
	{"restclient/api/statuserror.go", 260, []string{"StatusError", "ReasonForCode", "IsNotFound", "IsConflict", "IsExpired"}, nil},
	{"restclient/watch_decoder.go", 260, []string{"watchDecoder", "watchDecoder.Next"}, []string{"restclient/fast"}},
}

// pageProblem reports that a page is missing, is too long, or lacks a name of the article.
func pageProblem(page textbookPage) error {
	lines, err := countLines(page.file)
	if err != nil {
		return err
	}
	if lines > page.lines {
		return fmt.Errorf("%s has %d lines: a page of the textbook has at most %d", page.file, lines, page.lines)
	}
	for _, name := range page.says {
		if err := declares(page.file, name); err != nil {
			return fmt.Errorf("%w, a name of the article", err)
		}
	}
	return nil
}

// countLines counts the lines of a file, as wc -l does.
func countLines(file string) (int, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	return strings.Count(string(text), "\n"), err
}

func TestPagesOfTheTextbook(t *testing.T) {
	for _, page := range textbookPages {
		assert.NoError(t, pageProblem(page))
	}
}

// excusedIntrusions are the accepted ones, each with its reason.
var excusedIntrusions = map[string]string{}

// A page can be deleted and rewritten only if other code uses nothing but its exported names and
// its constructors.
func TestPagesCanBeTakenOut(t *testing.T) {
	problems, uses := intrusions(t, root, module, textbookPages)
	for _, problem := range problems {
		assert.Contains(t, excusedIntrusions, problem)
	}
	for excused := range excusedIntrusions {
		assert.Contains(t, problems, excused, "no longer exists: delete the exception")
	}
	assert.Greater(t, uses, 200, "the pages use their own fields, and that was seen")
}

// intrusions returns a sentence for each file that uses what only a page may use, and the number of
// such uses in the page itself:
//   - a private field of a page, outside the page;
//   - anything that the page declares, in a package with another form of it.
func intrusions(t *testing.T, dir, module string, pages []textbookPage) (problems []string, uses int) {
	absolute, err := filepath.Abs(dir)
	require.NoError(t, err)
	fset := token.NewFileSet()
	fileOf := func(at token.Pos) string {
		relative, err := filepath.Rel(absolute, absolutePath(t, fset.Position(at).Filename))
		require.NoError(t, err)
		return filepath.ToSlash(relative)
	}
	found := map[string]bool{}
	broken, err := checkTypes(fset, dir, runtime.GOOS, runtime.GOARCH, func(p checkedPackage) {
		for identifier, object := range p.info.Uses {
			if object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), module) {
				continue
			}
			declared := fileOf(object.Pos())
			at := slices.IndexFunc(pages, func(page textbookPage) bool { return page.file == declared })
			if at < 0 {
				continue
			}
			file := fileOf(identifier.Pos())
			field, isField := object.(*types.Var)
			private := isField && field.IsField() && !object.Exported()
			switch {
			case private && file == declared:
				uses++
			case private:
				found[fmt.Sprintf("%s uses %s, a private field of the page %s", file, object.Name(), declared)] = true
			case slices.Contains(pages[at].fast, path.Dir(file)):
				found[fmt.Sprintf("%s uses %s, which the page %s declares: another form must not use it", file, object.Name(), declared)] = true
			}
		}
	})
	require.NoError(t, err)
	require.Empty(t, broken)
	for problem := range found {
		problems = append(problems, problem)
	}
	slices.SortFunc(problems, cmp.Compare)
	return problems, uses
}

func absolutePath(t *testing.T, name string) string {
	absolute, err := filepath.Abs(name)
	require.NoError(t, err)
	return absolute
}
