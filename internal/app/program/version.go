package program

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Version is set by the linker; see the Makefile. After "go install" the version of the module is
// used.
var Version = "unknown"

func init() { Version = builtVersion(Version, readBuildInfo()) }

// VersionInfo is the output of the version command.
type VersionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // of the sources; empty if built without history
	Modified bool   `json:"modified,omitempty"` // the sources differed from the commit
	Date     string `json:"date,omitempty"`     // of the commit, RFC 3339
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// readBuildInfo returns the program's build information, never nil.
func readBuildInfo() *debug.BuildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return &debug.BuildInfo{}
	}
	return info
}

// builtVersion returns the linker's version, or else the module's.
func builtVersion(linked string, info *debug.BuildInfo) string {
	if linked == "unknown" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return linked
}

// CurrentVersion returns the version of this program.
func CurrentVersion() VersionInfo { return newVersionInfo(readBuildInfo()) }

func newVersionInfo(info *debug.BuildInfo) VersionInfo {
	v := VersionInfo{Version: Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Commit = setting.Value
		case "vcs.time":
			v.Date = setting.Value
		case "vcs.modified":
			v.Modified = setting.Value == "true"
		}
	}
	return v
}

// String formats the version for people: "v1.2.3 (commit 0123456789ab, go1.26.8, linux/amd64)".
func (v VersionInfo) String() string {
	details := []string{v.Go, v.Platform}
	if v.Commit != "" {
		commit := "commit " + v.Commit[:min(len(v.Commit), 12)]
		if v.Modified {
			commit += " with changes"
		}
		details = append([]string{commit}, details...)
	}
	return fmt.Sprintf("%s (%s)", v.Version, strings.Join(details, ", "))
}

// NewVersionCommand returns the version command of the named program.
func NewVersionCommand(name string) *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Prints the version, the commit that it was built from if that is known, the
version of Go and the platform. It talks to no cluster.`,
		Example: `  # for people
  ` + name + ` version

  # for scripts
  ` + name + ` version -o json`,
		Args: NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			info := CurrentVersion()
			if output == "json" {
				return json.NewEncoder(command.OutOrStdout()).Encode(info)
			}
			_, err := fmt.Fprintln(command.OutOrStdout(), command.Root().Name(), "version", info)
			return err
		},
	}
	WordVar(command.Flags(), &output, "output", "o", "output format", []string{"text", "json"}, "form of the output")
	CompleteChoices(command)
	return command
}
