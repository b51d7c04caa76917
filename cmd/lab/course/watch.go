package course

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
)

func newWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [NN]",
		Short: "Test your page whenever you save it",
		Long: `Tests the page whenever you save it, without the race detector, so that the
answer comes quickly. Keys: h shows a hint, t tests with the race detector, r
runs the real controller, v shows it in the browser, d shows the difference to
the reference, q quits. Ctrl-C ends what a key began.`,
		Example: `  # in a terminal beside your editor
  lab watch 08`,
		RunE: onStarted(func(s *session, lab *course.Lab) error {
			in, ok := s.InOrStdin().(*os.File)
			out, ok2 := bare(s.OutOrStdout()).(*os.File)
			if !ok || !ok2 || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
				return s.refuse("watch-no-terminal", lab.ID)
			}
			before, err := term.MakeRaw(int(in.Fd()))
			if err != nil {
				return usage(err)
			}
			defer term.Restore(int(in.Fd()), before)
			s.SetOut(lines{bare(s.OutOrStdout())})
			return s.watch(s.Context(), lab, keysOf(in))
		}),
	}
}

// lines writes the line ends of a terminal in raw mode.
type lines struct{ io.Writer }

func (l lines) Write(p []byte) (int, error) {
	_, err := l.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

// keysOf returns the keys that are pressed. Its goroutine ends with the program.
func keysOf(in io.Reader) <-chan byte {
	keys := make(chan byte)
	go func() {
		defer close(keys)
		key := make([]byte, 1)
		for {
			if _, err := in.Read(key); err != nil {
				return
			}
			keys <- key[0]
		}
	}()
	return keys
}

const (
	poll  = 200 * time.Millisecond
	ctrlC = 3
)

// watch tests the lab after each change of its files, and obeys keys.
func (s *session) watch(ctx context.Context, lab *course.Lab, keys <-chan byte) error {
	tested := ""
	for {
		if hash, err := s.hash(lab); err == nil && hash != tested {
			tested = hash
			s.quickTest(ctx, lab)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		case key, ok := <-keys:
			if !ok || key == 'q' || key == ctrlC {
				return nil
			}
			s.obey(ctx, lab, key, keys)
		}
	}
}

// quickTest tests without the race detector and go vet.
func (s *session) quickTest(ctx context.Context, lab *course.Lab) {
	r, err := check.Run(ctx, check.Options{
		Repository: s.folder.Repository, Lab: lab, Folder: s.folder.Of(lab), From: s.here, Quick: true,
	})
	fmt.Fprint(s.OutOrStdout(), "\x1b[2J\x1b[H")
	if err != nil {
		fmt.Fprintln(s.OutOrStdout(), err)
		return
	}
	passed := r.Passed
	r.Passed, r.Race = false, true // "lab test" has the last word
	r.Print(s.OutOrStdout(), s.lang)
	if err := s.update(lab, func(p *course.LabProgress) { p.Fail(check.FailureOf(r)) }); err != nil {
		fmt.Fprintln(s.OutOrStdout(), err)
	}
	if passed {
		s.print("watch-passed")
	}
	s.print("watch-keys")
}

// commands are the commands of the keys.
var commands = map[byte][]string{'h': {"hint"}, 't': {"test"}, 'r': {"run"}, 'v': {"run", "--view"}, 'd': {"diff"}}

// obey calls the command of a key. Ctrl-C and q end it: the terminal sends no signal.
func (s *session) obey(ctx context.Context, lab *course.Lab, key byte, keys <-chan byte) {
	if commands[key] == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	root := &cobra.Command{Use: s.Root().Name(), SilenceErrors: true, SilenceUsage: true}
	AddTo(root)
	root.SetArgs(append(commands[key], lab.ID, "--lang", string(s.lang)))
	root.SetOut(s.OutOrStdout())
	root.SetErr(s.OutOrStdout())
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	for {
		select {
		case err := <-ended:
			if _, exit := err.(program.Exit); err != nil && !exit && ctx.Err() == nil {
				fmt.Fprintln(s.OutOrStdout(), err)
			}
			s.print("watch-keys")
			return
		case key, ok := <-keys:
			if key == 'q' || key == ctrlC {
				cancel()
			}
			if !ok {
				keys = nil // the command ends by itself
			}
		}
	}
}
