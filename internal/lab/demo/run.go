package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/internal/words"
	"orrery/restclient"
	"orrery/restclient/credentials"
	"orrery/wait"
)

// Run shows a scene. The caller may let the curtain fall early.
func Run(ctx context.Context, config Config, curtain *Curtain) error {
	if config.Scene == "" {
		config.Scene = Default
	}
	scene, err := Named(config.Scene)
	if err != nil {
		return err
	}
	s := show{Config: config, scene: scene, curtain: curtain}
	s.Teller = scene.Story(config.Lang)
	if scene.Alone() {
		s.Teller.Tell(story.Demo, "the gears are %s (--gears selects others); this scene needs no server", config.Gears)
		return s.run(ctx)
	}
	server, credentials, err := newServer()
	if err != nil {
		return err
	}
	defer stopServer(server)
	if err := server.Start(ctx); err != nil {
		return err
	}
	s.Teller.Tell(story.Server, "the API server in memory listens on %s", server.URL())
	s.Teller.Tell(story.Demo, "the gears are %s (--gears selects others)", config.Gears)
	if config.Started != nil {
		words, err := config.Started(server)
		if err != nil {
			return err
		}
		s.Teller.Tell(story.You, "%s", words)
	}
	s.Server, s.Credentials, s.Faults = connection(server), credentials, server.Faults()
	if config.Keep != nil {
		s.keep = func(ctx context.Context) error { return config.Keep(ctx, server) }
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

// show is one run of a scene.
type show struct {
	Config
	scene   Scene
	curtain *Curtain
	keep    func(context.Context) error // nil: the end is the end
}

// run plays and draws the scene, then prints the summary and the lesson.
func (s *show) run(ctx context.Context) error {
	printer := story.NewPrinter(s.Out, s.width(), s.Color)
	stopDrawing := s.draw(printer)
	defer stopDrawing()

	on, err := s.play(ctx)
	if on != nil {
		defer on.Close()
		defer s.Recorder.Stop("the scene has ended")
	}
	stopDrawing()
	if s.live() { // print the beats, since the live picture has gone
		printer = story.NewPrinter(s.Out, s.width(), s.Color) // the terminal may have been resized
		printer.Lines(story.Opening(s.Teller.State(), s.width()))
		printer.Draw(s.Teller.State())
	}
	if ctx.Err() != nil {
		printer.Lines(story.Sentence(s.say(stopped), s.width()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("the scene failed: %w", err)
	}
	printer.Lines(story.Summary(s.Teller.State(), s.width()))
	printer.Lines(story.Closing(s.Teller.State(), s.scene.LessonOf(s.Gears, s.Lang), s.width()))
	if s.keep == nil {
		return nil
	}
	return s.keep(ctx)
}

const stopped = "Stopped in the middle of the scene. All that it started has shut down; nothing is left behind."

// say returns a text in the language of the story.
func (s *show) say(text string) string {
	state := s.Teller.State()
	return state.Say("%s", text)
}

// draw starts to show the story, on the whole terminal or with the printer, until stop is called.
func (s *show) draw(printer *story.Printer) (stop func()) {
	if !s.live() {
		printer.Lines(story.Opening(s.Teller.State(), s.width()))
		return story.Run(printer.Draw, s.Teller)
	}
	screen := story.NewScreen(s.Out, s.Size, s.Color)
	s.curtain.screen.Store(screen)
	// A panic restores the terminal first, so that it can be read.
	restore := wait.PanicHandlers.Replace(func(ctx context.Context, p *wait.Panic) {
		screen.Close()
		wait.LogPanic(ctx, p)
	})
	stopDrawing := story.Run(screen.Draw, s.Teller)
	return sync.OnceFunc(func() {
		stopDrawing()
		screen.Close()
		restore()
	})
}

// Curtain restores the terminal before the end of a scene, after a signal. The zero value is ready
// to use.
type Curtain struct{ screen atomic.Pointer[story.Screen] }

// Fall restores the terminal for good. It may be called more than once, from any goroutine.
func (c *Curtain) Fall() {
	if screen := c.screen.Load(); screen != nil {
		screen.Close()
	}
}

// live reports whether there is a terminal to draw on.
func (s *show) live() bool { return s.Size != nil }

// narrowest is the minimum width of lines.
const narrowest = 20

// width returns the width of printed lines.
func (s *show) width() int {
	width := s.Width
	if s.live() {
		width = s.Size().Width
	}
	if width == 0 {
		return story.PlainWidth
	}
	return max(narrowest, min(width, story.PlainWidth))
}

var errTooLong = errors.New("it did not end within two minutes; the lines above show how far it got")

// play plays the scene. It returns the stage, if it was opened, with the controller running.
func (s *show) play(ctx context.Context) (on *Stage, err error) {
	playing := ctx
	if s.Gates == nil {
		limited, cancel := context.WithTimeoutCause(ctx, timeout, errTooLong) // only the scene: the controller may run longer
		defer cancel()
		playing = limited
	}
	if s.live() {
		s.FillTime = fillTime
	}
	if on, err = Open(ctx, s.StageConfig, s.scene.Options); err != nil {
		return nil, err
	}
	err = s.scene.Play(playing, on)
	if err != nil && context.Cause(playing) != nil {
		err = context.Cause(playing)
	}
	return on, err
}

// Config configures a demo. Run sets the fields of its stage that are about the server, and the
// teller. With gates a scene has no time limit.
type Config struct {
	StageConfig

	// Scene is the name of the scene; "": Default.
	Scene string
	// Lang is the language of what is told; "": English.
	Lang words.Lang

	// Out is the output. If Size is not nil, Out is a terminal and the scene is drawn live, in
	// Color.
	Out   io.Writer
	Size  func() story.Size
	Color bool
	// Width is the width of lines if Size is nil; 0: story.PlainWidth.
	Width int

	// The next two are for a scene with a server; see Scene.Alone.

	// Started, if not nil, is called when the server has started, before the scene. The text that it
	// returns becomes a beat.
	Started func(server *apiserver.Server) (string, error)
	// Keep, if not nil, is called after the summary, while server and controller run. When it returns,
	// they stop.
	Keep func(ctx context.Context, server *apiserver.Server) error
}

// fillTime is the time to fill the namespace on a terminal, so that the bars can be seen to grow.
const fillTime = 2 * time.Second

// timeout limits the time of a scene in case something is broken.
const timeout = 2 * time.Minute

// newServer returns a server and the credentials of its clients. They are separate users, so that a
// fault can affect one of them.
func newServer() (*apiserver.Server, map[story.Client]restclient.Credentials, error) {
	tokens, made := map[string]apiserver.User{}, map[story.Client]restclient.Credentials{}
	for who, user := range users {
		token := string(who) + "-" + rand.Text()
		tokens[token] = apiserver.User{Name: user, Groups: []string{apiserver.GroupMasters}}
		var err error
		if made[who], err = credentials.NewToken(token); err != nil {
			return nil, nil, err
		}
	}
	server, err := apiserver.New(apiserver.Config{TLS: true, Demo: true, Tokens: tokens})
	return server, made, err
}

// connection returns the client configuration for a listening server.
func connection(server *apiserver.Server) restclient.Config {
	return restclient.Config{
		Host:  server.URL(),
		TLS:   restclient.TLS{CAData: server.CertificateAuthority()},
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, // the server is on this machine
	}
}

// stopServer stops the server and waits two seconds at most for requests in flight.
func stopServer(server *apiserver.Server) {
	ending, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Stop(ending)
}
