package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/words"
)

// Exit codes: 0 passed, 1 the lab's tests or a check of a repair fail, 2 wrong usage or
// environment.
const (
	exitFailed = 1
	exitUsage  = 2
)

// addCourse adds the commands of the workshop: start, test, hint, run and others. They find the
// repository and the lab, call the packages of the course, and print. Wrong usage gets the exit
// code 2 in all commands of lab.
func addCourse(root *cobra.Command) {
	program.SetUsageCode(root, exitUsage)
	group := &cobra.Group{ID: "workshop", Title: "The workshop: rebuild a gear and run it in the real controller"}
	root.AddGroup(group)
	commands := []*cobra.Command{
		newListCommand(), newStartCommand(), newTestCommand(), newWatchCommand(), newHintCommand(), newRunCommand(),
		newDiffCommand(), newResetCommand(), newQuizCommand(), newDoctorCommand(), newBundleCommand(),
		newVerifyCommand(),
	}
	for _, command := range commands {
		command.GroupID, command.Args = group.ID, program.NoArguments
		if strings.HasSuffix(command.Use, "[NN]") {
			command.Args = program.AtMostOneArgument
		}
		command.Flags().String("lang", "", "the language of texts: en or zh-CN; default: that of the locale")
		program.Complete(command, "lang", string(words.English), string(words.Chinese))
		root.AddCommand(command)
	}
}

// usage gives an error the exit code of wrong usage or environment.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return program.CodedError{Err: err, Code: exitUsage}
}

// session is what every command needs.
type session struct {
	*cobra.Command
	lang words.Lang
	// here is the current folder.
	here   string
	folder course.Folder
	labs   []*course.Lab
}

// open finds the repository and reads the labs.
func open(command *cobra.Command) (*session, error) {
	name, err := command.Flags().GetString("lang")
	if err != nil {
		return nil, err
	}
	s := &session{Command: command}
	if s.lang, err = words.ParseLang(name); err != nil {
		return nil, program.UsageError{Command: command.CommandPath(), Err: err}
	}
	if s.here, err = os.Getwd(); err != nil {
		return nil, usage(err)
	}
	repository, err := course.FindRepository(s.here)
	if err != nil {
		return nil, s.refuse("no-repository")
	}
	s.folder = course.FolderIn(repository)
	s.labs, err = course.LoadAll(repository)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.refuse("no-labs", course.LabsFolder)
	}
	return s, usage(err)
}

// say returns a message.
func (s *session) say(name string, arguments ...any) string {
	return course.Say(s.lang, name, arguments...)
}

// refuse returns an error about usage or environment with a message.
func (s *session) refuse(name string, arguments ...any) error {
	return usage(errors.New(s.say(name, arguments...)))
}

// print writes a message.
func (s *session) print(name string, arguments ...any) {
	fmt.Fprintln(s.OutOrStdout(), s.say(name, arguments...))
}

// show returns a path relative to the current folder.
func (s *session) show(path string) string {
	if relative, err := filepath.Rel(s.here, path); err == nil {
		return filepath.ToSlash(relative)
	}
	return path
}

// lab returns the lab that the arguments name, or the one in whose folder the learner is.
func (s *session) lab(args []string) (*course.Lab, error) {
	if len(args) == 0 {
		if lab := s.around(); lab != nil {
			return lab, nil
		}
		return nil, s.refuse("which-lab", s.CommandPath())
	}
	if lab := course.Find(s.labs, args[0]); lab != nil {
		return lab, nil
	}
	return nil, s.refuse("no-such-lab", args[0])
}

// oneOrAll is lab, but without arguments and outside of a lab's folder it returns all labs.
func (s *session) oneOrAll(args []string) ([]*course.Lab, error) {
	if len(args) == 0 && s.around() == nil {
		return s.labs, nil
	}
	lab, err := s.lab(args)
	return []*course.Lab{lab}, err
}

// around returns the lab in whose folder the learner is, or nil.
func (s *session) around() *course.Lab {
	for _, parent := range []string{s.folder.Dir,
		filepath.Join(s.folder.Repository, filepath.FromSlash(course.LabsFolder))} {
		relative, err := filepath.Rel(parent, s.here)
		name, _, _ := strings.Cut(filepath.ToSlash(relative), "/")
		if lab := course.Find(s.labs, name); err == nil && lab != nil {
			return lab
		}
	}
	return nil
}

// started is lab for a lab that must have been started, and whose pages must be there.
func (s *session) started(args []string) (*course.Lab, error) {
	lab, err := s.lab(args)
	if err != nil {
		return lab, err
	}
	if !s.folder.Started(lab) {
		return lab, s.refuse("not-started", lab.ID)
	}
	return lab, s.complete(lab)
}

// complete returns an error if one of the lab's pages is gone.
func (s *session) complete(lab *course.Lab) error {
	if page := s.folder.Gone(lab); page != "" {
		return s.refuse("page-gone", s.show(page), lab.ID)
	}
	return nil
}

// opened makes the RunE of a command from what it does in a session.
func opened(run func(*session, []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		s, err := open(command)
		if err != nil {
			return err
		}
		return run(s, args)
	}
}

// onLab is opened for a command on a lab, which the arguments name.
func onLab(run func(*session, *course.Lab) error) func(*cobra.Command, []string) error {
	return opened(func(s *session, args []string) error {
		lab, err := s.lab(args)
		if err != nil {
			return err
		}
		return run(s, lab)
	})
}

// onStarted is onLab for a lab that must have been started.
func onStarted(run func(*session, *course.Lab) error) func(*cobra.Command, []string) error {
	return opened(func(s *session, args []string) error {
		lab, err := s.started(args)
		if err != nil {
			return err
		}
		return run(s, lab)
	})
}

// update changes the progress of a lab.
func (s *session) update(lab *course.Lab, change func(*course.LabProgress)) error {
	return s.readable(s.folder.Update(lab.ID, change))
}

// readable says in the learner's language that the file of the progress is not.
func (s *session) readable(err error) error {
	if errors.Is(err, course.ErrBadProgress) {
		return s.refuse("progress-bad", s.show(filepath.Join(s.folder.Dir, "progress.json")))
	}
	return usage(err)
}

// progress returns the progress of a lab.
func (s *session) progress(lab *course.Lab) (course.LabProgress, error) {
	all, err := s.folder.Progress()
	return all[lab.ID], s.readable(err)
}

// paragraph returns a text that is wrapped.
func (s *session) paragraph(t words.Text) string {
	const widest = 80
	return t.Wrapped(s.lang, widest)
}
