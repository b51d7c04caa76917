package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/apiserver"
	"orrery/internal/observe/trace"
	"orrery/internal/words"
	"orrery/restclient"
	"orrery/restclient/credentials"
	"orrery/wait"
)

// Config configures a demo. Only Out is required.
type Config struct {
	// Scene is the name of the scene; "": Default.
	Scene string
	// Lang is the language of what is told; "": English.
	Lang words.Lang

	// Out is the output. If Size is not nil, Out is a terminal and the scene is drawn live, in
	// Color.
	Out   io.Writer
	Size  func() Size
	Color bool
	// Width is the width of lines if Size is nil; 0: PlainWidth.
	Width int

	// Objects is the number of objects in the namespace, at least a hundred. 0: 320.
	Objects int
	// Gears are the gears of the controller and of the spectators.
	Gears gears.Set

	// Recorder records what the gears of the controller and of the spectators do.
	Recorder *trace.Recorder
	// Gates hold items of the controller and of the spectators, and may guide a reader through the
	// scene; nil: nothing is held, and the scene has a time limit.
	Gates *Gates

	// Started, if not nil, is called when the server of a scene that has one has started. The text
	// that it returns becomes a beat.
	Started func(server *apiserver.Server) (string, error)
	// Keep, if not nil, is called after the summary, while server and controller run. When it returns,
	// they stop.
	Keep func(ctx context.Context, server *apiserver.Server) error
}

// Run shows a scene. If a request of the script fails, the error names the step; the end of ctx is
// no error. A caller that ends the program before Run returns restores the terminal with
// [Restore].
func Run(ctx context.Context, config Config) error {
	scene, err := Named(cmp.Or(config.Scene, Default))
	if err != nil {
		return err
	}
	s := newStage(config, scene)
	defer s.Close() // also if it does not come to run, which closes the stage before its server stops
	if scene.Options.Alone {
		s.Tell(Demo, "the gears are %s (--gears selects others); this scene needs no server", config.Gears)
		return s.run(ctx)
	}
	if err := s.newServer(); err != nil {
		return err
	}
	server := s.server
	defer stopServer(server)
	if err := server.Start(ctx); err != nil {
		return err
	}
	s.Server = restclient.Config{
		Host:  server.URL(),
		TLS:   restclient.TLS{CAData: server.CertificateAuthority()},
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, // the server is on this machine
	}
	s.Tell(Server, "the API server in memory listens on %s", server.URL())
	s.Tell(Demo, "the gears are %s (--gears selects others)", config.Gears)
	if config.Started != nil {
		words, err := config.Started(server)
		if err != nil {
			return err
		}
		s.Tell(You, "%s", words)
	}
	return s.run(ctx)
}

// Recorded returns a context for a run and its gates. It ends with ctx, but after the recording,
// whose reason this is: a recording ends with the state of the run, not with that of gears that
// shut down. The caller must call release.
func Recorded(ctx context.Context, recorder *trace.Recorder, reason string) (running context.Context, release func()) {
	running, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		recorder.Stop(reason)
		end(context.Cause(ctx))
	})
	return running, func() { stop(); end(nil) }
}

// newServer sets the server and the credentials of its clients. They are separate users, so
// that a fault can affect one of them.
func (s *Stage) newServer() error {
	tokens := map[string]apiserver.User{}
	s.Credentials = map[string]restclient.Credentials{}
	for _, user := range []string{controllerUser, spectatorsUser, scriptUser} {
		token := rand.Text()
		tokens[token] = apiserver.User{Name: user, Groups: []string{apiserver.GroupMasters}}
		var err error
		if s.Credentials[user], err = credentials.NewToken(token); err != nil {
			return err
		}
	}
	var err error
	s.server, err = apiserver.New(apiserver.Config{TLS: true, Demo: true, Tokens: tokens})
	return err
}

// stopServer stops the server and waits two seconds at most for requests in flight.
func stopServer(server *apiserver.Server) {
	ending, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Stop(ending)
}

// run plays and draws the scene, then prints the summary and the lesson.
func (s *Stage) run(ctx context.Context) error {
	printer := NewPrinter(s.Out, s.width(), s.Color)
	stopDrawing := s.draw(printer)
	defer stopDrawing()
	defer s.Close()
	err := s.play(ctx)
	stopDrawing()
	if s.live() { // print the beats, since the live picture has gone
		printer = NewPrinter(s.Out, s.width(), s.Color) // the terminal may have been resized
		printer.Lines(Opening(s.State(), s.width()))
		printer.Draw(s.State())
	}
	state := s.State()
	if ctx.Err() != nil {
		printer.Lines(Sentence(state.Say(stopped), s.width()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("the scene failed: %w", err)
	}
	printer.Lines(Summary(state, s.width()))
	printer.Lines(Closing(state, s.width()))
	if s.Keep == nil {
		return nil
	}
	return s.Keep(ctx, s.server)
}

const stopped = "Stopped in the middle of the scene. All that it started has shut down; nothing is left behind."

// draw starts to show the story, on the whole terminal or with the printer, until stop is called.
func (s *Stage) draw(printer *Printer) (stop func()) {
	if !s.live() {
		printer.Lines(Opening(s.State(), s.width()))
		return keepDrawing(printer.Draw, s.Teller)
	}
	screen := NewScreen(s.Out, s.Size, s.Color)
	// A panic restores the terminal first, so that it can be read.
	restore := wait.PanicHandlers.Replace(func(ctx context.Context, p *wait.Panic) {
		screen.Close()
		wait.LogPanic(ctx, p)
	})
	stopDrawing := keepDrawing(screen.Draw, s.Teller)
	return sync.OnceFunc(func() {
		stopDrawing()
		screen.Close()
		restore()
	})
}

// live reports whether there is a terminal to draw on.
func (s *Stage) live() bool { return s.Size != nil }

// width returns the width of printed lines.
func (s *Stage) width() int {
	const narrowest = 20
	width := cmp.Or(s.Width, PlainWidth)
	if s.live() {
		width = s.Size().Width
	}
	return max(narrowest, min(width, PlainWidth))
}

// timeout limits the time of a scene in case something is broken.
const timeout = 2 * time.Minute

var errTooLong = errors.New("it did not end within two minutes; the lines above show how far it got")

// play opens the stage and plays the scene.
func (s *Stage) play(ctx context.Context) error {
	s.held = s.Gates != nil
	playing := ctx
	if !s.held {
		// only the scene: the controller may run longer
		limited, cancel := context.WithTimeoutCause(ctx, timeout, errTooLong)
		defer cancel()
		playing = limited
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	err := s.scene.Play(playing, s)
	if err != nil && context.Cause(playing) != nil {
		err = context.Cause(playing)
	}
	return err
}
