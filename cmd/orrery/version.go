package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the linker; see the Makefile.
var version = "unknown"

// versionInfo is what "orrery version" says.
type versionInfo struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersionCommand() *cobra.Command {
	output := "text"
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			info := versionInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			switch output {
			case "json":
				return json.NewEncoder(command.OutOrStdout()).Encode(info)
			case "text":
				_, err := fmt.Fprintf(command.OutOrStdout(), "orrery %s (%s, %s)\n", info.Version, info.Go, info.Platform)
				return err
			default:
				return usageError{command: command.CommandPath(), err: fmt.Errorf("there is no output format %q; use text or json", output)}
			}
		},
	}
	command.Flags().StringVarP(&output, "output", "o", output, "text or json")
	return command
}
