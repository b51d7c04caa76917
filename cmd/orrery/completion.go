package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// shells are those that completion is there for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "Print what makes a shell complete commands, flags and values",
		Long: `Prints a script that makes a shell complete orrery's commands, flags and the values of
flags: controllers, contexts of the kubeconfig, scenes, designs and more. The shell
reads it once, at its start.`,
		Example: `  # bash, with its package bash-completion: for this shell, or for all to come
  source <(orrery completion bash)
  orrery completion bash > ~/.local/share/bash-completion/completions/orrery

  # zsh, in a directory of $fpath, with "autoload -U compinit; compinit"
  orrery completion zsh > "${fpath[1]}/_orrery"

  # fish
  orrery completion fish > ~/.config/fish/completions/orrery.fish

  # PowerShell, also as a line of $PROFILE
  orrery completion powershell | Out-String | Invoke-Expression`,
		ValidArgs:             shells,
		DisableFlagsInUseLine: true,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageError{command: command.CommandPath(), err: shellError(args)}
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			root, out := command.Root(), command.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(out)
			}
		},
	}
}

// shellError says what is wrong with the arguments.
func shellError(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("name a shell: %s", strings.Join(shells, ", "))
	}
	return fmt.Errorf("there is no completion for %q; use one of: %s", strings.Join(args, " "), strings.Join(shells, ", "))
}

// completeFlag has shells complete the value of a flag. A flag that does not exist is a mistake in the program.
func completeFlag(command *cobra.Command, name string, complete cobra.CompletionFunc) {
	if err := command.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err)
	}
}

// oneOf completes a flag whose value is one of some words. What follows a tab in a word is its description.
func oneOf(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// nothing completes a flag whose values nobody can guess, such as numbers: the names of files would be wrong.
func nothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeRest has flags that take a number, a duration or a name complete nothing. Those that take a file are left to the shell.
func completeRest(command *cobra.Command) {
	for _, flag := range flagNames(command.Flags()) {
		if _, known := command.GetFlagCompletionFunc(flag); known {
			continue
		}
		if kind := command.Flag(flag).Value.Type(); kind != "bool" && !takesFile(command.Flag(flag)) {
			completeFlag(command, flag, nothing)
		}
	}
}

// takesFile tells whether the value of a flag is the name of a file, by what its help calls it.
func takesFile(flag *pflag.Flag) bool {
	value, _ := pflag.UnquoteUsage(flag)
	return value == "file"
}

// completeRun completes the values of the flags of "orrery run".
func completeRun(command *cobra.Command) {
	completeFlag(command, "controllers", oneOf("*\tall", namespaceControllerName+"\tdeletes namespaces", "-"+namespaceControllerName+"\twithout it"))
	completeFlag(command, "watch-transport", oneOf(string(restclient.WatchHTTP)+"\tchunked", string(restclient.WatchWebSocket)))
	completeFlag(command, "context", contexts)
	completeFlag(command, "leader-elect-resource-lock", oneOf(leasesLock))
	completeLogs(command)
}

func completeLogs(command *cobra.Command) {
	completeFlag(command, "log-format", oneOf(string(logs.Text)+"\tfor people", string(logs.JSON)+"\tfor machines"))
	completeFlag(command, "v", oneOf("0", "1", "2", "3"))
}

// contexts are those of the kubeconfig that the command line names, or else of the files that kubectl reads. A file that cannot be
// read has none.
func contexts(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var files []string
	if path := command.Flag("kubeconfig").Value.String(); path != "" {
		files = []string{path}
	} else if files = filepath.SplitList(os.Getenv("KUBECONFIG")); len(files) == 0 {
		if home, err := os.UserHomeDir(); err == nil {
			files = []string{filepath.Join(home, ".kube", "config")}
		}
	}
	var names []string
	for _, file := range files {
		config, err := kubeconfig.ReadFile(file)
		if err != nil {
			continue
		}
		for name := range config.Contexts {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
