package view

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/pflag"
)

// Flags are the flags of every command that serves the page.
type Flags struct {
	// Port is the value of --view-port. 0 means the default port or a free one.
	Port int
	// NoOpen is --no-open: the browser is not started.
	NoOpen bool
}

// AddTo adds the flags to a command.
func (f *Flags) AddTo(flags *pflag.FlagSet) {
	flags.IntVar(&f.Port, "view-port", 0, fmt.Sprintf("the `port` of the page on the loopback interface (default %d, or a free one if that is taken)", DefaultPort))
	flags.BoolVar(&f.NoOpen, "no-open", false, "only print the address of the page, without opening a browser")
}

// Check reports an invalid value.
func (f *Flags) Check() error {
	if f.Port < 0 || f.Port > 65535 {
		return fmt.Errorf("--view-port must be between 1 and 65535, not %d", f.Port)
	}
	return nil
}

// Start starts a server as the flags say, prints its address and opens it in a browser. Without a
// browser it prints the address alone.
func (f *Flags) Start(config Config, out io.Writer) (*Server, error) {
	config.Port = f.Port
	server, err := Start(config)
	if err != nil {
		return nil, err
	}
	why := ""
	if server.Moved() {
		why = fmt.Sprintf(" (port %d is taken)", DefaultPort)
	}
	fmt.Fprintf(out, "The view: %s%s\n", server.URL(), why)
	if !f.NoOpen {
		openBrowser(server.URL())
	}
	return server, nil
}

// openBrowser asks the system to open an address. It does nothing where there is no screen.
func openBrowser(address string) {
	var command *exec.Cmd
	switch {
	case runtime.GOOS == "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	case runtime.GOOS == "darwin":
		command = exec.Command("open", address)
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		command = exec.Command("xdg-open", address)
	default:
		return
	}
	if command.Start() == nil {
		go func() { _ = command.Wait() }() // it ends by itself, sooner or later than the program
	}
}
