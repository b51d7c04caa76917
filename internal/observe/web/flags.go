package web

import (
	"errors"
	"fmt"
	"html"
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
	flags.IntVar(&f.Port, "view-port", 0,
		fmt.Sprintf("the `port` of the page on the loopback interface (default %d, or a free one if that is taken)",
			defaultPort))
	flags.BoolVar(&f.NoOpen, "no-open", false, "only print the address of the page, without opening a browser")
}

// Check reports an invalid value. shown reports that there will be a page.
func (f *Flags) Check(shown bool) error {
	switch {
	case f.Port < 0 || f.Port > 65535:
		return fmt.Errorf("--view-port must be between 1 and 65535, not %d", f.Port)
	case !shown && *f != Flags{}:
		return errors.New("--view-port and --no-open need --view")
	}
	return nil
}

// Start starts a server as the flags say, prints its address and opens it in a browser. Without a
// browser it prints the address alone.
func (f *Flags) Start(config ViewConfig, out io.Writer) (*View, error) {
	config.Port = f.Port
	server, err := StartView(config)
	if err == nil {
		f.Announce(server, out)
	}
	return server, err
}

// Announce prints the address of a server and opens it in a browser.
func (f *Flags) Announce(server *View, out io.Writer) {
	fmt.Fprintf(out, "The view: %s\n", server.URL())
	if !f.NoOpen {
		server.openBrowser()
	}
}

// openBrowser asks the system to open the page. It does nothing where there is no screen. Every
// user of the machine can read the arguments of a process, and so the browser gets the name of a
// file that leads to the page, not its address, which has the token.
func (s *View) openBrowser() {
	program := []string{"xdg-open"}
	switch {
	case runtime.GOOS == "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case runtime.GOOS == "darwin":
		program = []string{"open"}
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return
	}
	door, err := s.newDoor()
	if err != nil {
		return // the address has been printed
	}
	command := exec.Command(program[0], append(program[1:], door)...)
	if command.Start() == nil {
		go func() { _ = command.Wait() }() // it ends by itself, sooner or later than the program
	}
}

// newDoor writes a file that leads a browser to the page, which only its owner can read. Stop
// removes it.
func (s *View) newDoor() (name string, err error) {
	file, err := os.CreateTemp("", "orrery-view-*.html") // mode 0600
	if err != nil {
		return "", err
	}
	name = file.Name()
	s.door.Store(&name)
	const page = "<!doctype html><meta http-equiv=refresh content=\"0;url=%s\">\n"
	_, err = fmt.Fprintf(file, page, html.EscapeString(s.URL()))
	return name, errors.Join(err, file.Close())
}
