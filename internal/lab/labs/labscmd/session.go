// Package labscmd has the workshop's commands of lab: start, test, hint, run and others. It finds
// the repository and the lab, calls the packages beside it, and prints. Exit codes: 0 passed, 1 the
// lab's tests fail, 2 wrong usage or environment.
package labscmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
	"orrery/internal/lab/labs/work"
	"orrery/internal/program"
)

// Exit codes besides 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// Commands returns the commands of the workshop.
func Commands() []*cobra.Command {
	commands := []*cobra.Command{
		newListCommand(), newStartCommand(), newTestCommand(), newWatchCommand(), newHintCommand(), newRunCommand(),
		newDiffCommand(), newResetCommand(), newQuizCommand(), newDoctorCommand(), newBundleCommand(),
		newTourCommand(), newGlossaryCommand(), newScheduleCommand(), newVerifyCommand(),
	}
	for _, command := range commands {
		command.GroupID = Group.ID
		command.Flags().String("lang", "", "the language of texts: en or zh-CN; default: that of the locale")
		program.Complete(command, "lang", string(texts.English), string(texts.Chinese))
		command.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
			return usage(program.UsageError{Command: command.CommandPath(), Err: program.FlagError(err)})
		})
		inner := command.Args
		command.Args = func(command *cobra.Command, args []string) error { return usage(inner(command, args)) }
	}
	return commands
}

// Group is the group of the commands in the help.
var Group = &cobra.Group{ID: "workshop", Title: "The workshop: rebuild a gear and run it in the real controller"}

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
	lang texts.Lang
	// here is the current folder.
	here   string
	folder work.Folder
	labs   []*manifest.Lab
	// left is what a second Ctrl-C says: a run on a cluster then leaves namespaces behind.
	left atomic.Pointer[string]
}

// open finds the repository and reads the labs.
func open(command *cobra.Command) (*session, error) {
	name, err := command.Flags().GetString("lang")
	if err != nil {
		return nil, err
	}
	s := &session{Command: command}
	if s.lang, err = texts.Parse(name); err != nil {
		return nil, usage(program.UsageError{Command: command.CommandPath(), Err: err})
	}
	if s.here, err = os.Getwd(); err != nil {
		return nil, usage(err)
	}
	repository, err := work.FindRepository(s.here)
	if err != nil {
		return nil, s.refuse("no-repository")
	}
	s.folder = work.In(repository)
	s.labs, err = manifest.LoadAll(repository)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.refuse("no-labs", manifest.Folder)
	}
	return s, usage(err)
}

// refuse returns an error about usage or environment with a message.
func (s *session) refuse(name string, arguments ...any) error {
	return usage(errors.New(s.lang.Say(name, arguments...)))
}

// print writes a message.
func (s *session) print(name string, arguments ...any) {
	fmt.Fprintln(s.OutOrStdout(), s.lang.Say(name, arguments...))
}

// show returns a path relative to the current folder.
func (s *session) show(path string) string {
	if relative, err := filepath.Rel(s.here, path); err == nil {
		return filepath.ToSlash(relative)
	}
	return path
}

// lab returns the lab that the arguments name, or the one in whose folder the learner is.
func (s *session) lab(args []string) (*manifest.Lab, error) {
	if len(args) == 0 {
		if lab := s.around(); lab != nil {
			return lab, nil
		}
		return nil, s.refuse("which-lab", s.CommandPath())
	}
	lab, near := manifest.Find(s.labs, args[0])
	if lab != nil {
		return lab, nil
	}
	var names []string
	for _, each := range near {
		names = append(names, fmt.Sprintf("%s (%s)", each.ID, each.Title.In(s.lang)))
	}
	return nil, s.refuse("unknown-lab", args[0], strings.Join(names, ", "))
}

// around returns the lab in whose folder the learner is, or nil.
func (s *session) around() *manifest.Lab {
	for _, parent := range []string{s.folder.Dir, filepath.Join(s.folder.Repository, filepath.FromSlash(manifest.Folder))} {
		relative, err := filepath.Rel(parent, s.here)
		if err != nil || relative == "." || strings.HasPrefix(relative, "..") {
			continue
		}
		name, _, _ := strings.Cut(filepath.ToSlash(relative), "/")
		if lab, _ := manifest.Find(s.labs, name); lab != nil {
			return lab
		}
	}
	return nil
}

// started is lab for a lab that must have been started.
func (s *session) started(args []string) (*manifest.Lab, error) {
	lab, err := s.lab(args)
	if err == nil && !s.folder.Started(lab) {
		err = s.refuse("not-started", lab.ID)
	}
	return lab, err
}

// update changes the progress of a lab, and says when an unreadable file was put aside.
func (s *session) update(lab *manifest.Lab, change func(*work.LabProgress)) error {
	bad, err := s.folder.Update(lab.ID, change)
	s.bad(bad)
	return usage(err)
}

// progress returns the progress of a lab.
func (s *session) progress(lab *manifest.Lab) (work.LabProgress, error) {
	all, bad, err := s.folder.Progress()
	s.bad(bad)
	if err != nil || all[lab.ID] == nil {
		return work.LabProgress{}, usage(err)
	}
	return *all[lab.ID], nil
}

func (s *session) bad(file string) {
	if file != "" {
		fmt.Fprintln(s.ErrOrStderr(), s.lang.Say("progress-bad", s.show(file)))
	}
}

// atMostOne accepts the id of a lab, or nothing.
func atMostOne(command *cobra.Command, args []string) error {
	if len(args) > 1 {
		return program.NoArguments(command, args[1:])
	}
	return nil
}

// completeLab completes the id of a lab.
func completeLab(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := open(command)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, lab := range s.labs {
		ids = append(ids, lab.ID+"\t"+lab.Title.In(s.lang))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
