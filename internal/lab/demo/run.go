package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo/stage"
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
	teller := scene.Story(config.Lang)
	s := show{config: config, scene: scene, teller: teller, curtain: curtain, stage: stage.Config{
		Teller: teller, Objects: config.Objects, Gears: config.Gears,
		Recorder: config.Recorder, Guide: config.Guide, Gates: config.Gates,
	}}
	if scene.Alone() {
		teller.Tell(story.Demo, "the gears are %s (--gears selects others); this scene needs no server", config.Gears)
		return s.run(ctx)
	}
	server, credentials, err := NewServer(config.Listen)
	if err != nil {
		return err
	}
	defer StopServer(server)
	if err := server.Start(ctx); err != nil {
		return err
	}
	teller.Tell(story.Server, "the API server in memory listens on %s", server.URL())
	teller.Tell(story.Demo, "the gears are %s (--gears selects others)", config.Gears)
	if config.Started != nil {
		words, err := config.Started(server)
		if err != nil {
			return err
		}
		teller.Tell(story.You, "%s", words)
	}
	s.stage.Server, s.stage.Credentials, s.stage.Faults = Connection(server), credentials, server.Faults()
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
	config  Config
	scene   Scene
	teller  *story.Teller
	curtain *Curtain
	stage   stage.Config
	keep    func(context.Context) error // nil: the end is the end
}

// run plays and draws the scene, then prints the summary and the lesson.
func (s *show) run(ctx context.Context) error {
	printer := story.NewPrinter(s.config.Out, s.width(), s.config.Color)
	stopDrawing := s.draw(printer)
	defer stopDrawing()

	on, err := s.play(ctx)
	if on != nil {
		defer on.Close()
		defer s.config.Recorder.Stop("the scene has ended")
	}
	stopDrawing()
	if s.live() { // print the beats, since the live picture has gone
		printer = story.NewPrinter(s.config.Out, s.width(), s.config.Color) // the terminal may have been resized
		printer.Lines(story.Opening(s.teller.State(), s.width()))
		printer.Draw(s.teller.State())
	}
	if ctx.Err() != nil {
		printer.Lines(story.Sentence(s.say(stopped), s.width()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("the scene failed: %w", err)
	}
	printer.Lines(story.Summary(s.teller.State(), s.width()))
	printer.Lines(story.Closing(s.teller.State(), s.scene.LessonOf(s.config.Gears, s.config.Lang), s.width()))
	if s.keep == nil {
		return nil
	}
	return s.keep(ctx)
}

const stopped = "Stopped in the middle of the scene. All that it started has shut down; nothing is left behind."

// say returns a text in the language of the story.
func (s *show) say(text string) string {
	state := s.teller.State()
	return state.Say("%s", text)
}

// draw starts to show the story, on the whole terminal or with the printer, until stop is called.
func (s *show) draw(printer *story.Printer) (stop func()) {
	if !s.live() {
		printer.Lines(story.Opening(s.teller.State(), s.width()))
		return story.Run(printer, s.teller)
	}
	screen := story.NewScreen(s.config.Out, s.config.Size, s.config.Color)
	s.curtain.rise(screen)
	// A panic restores the terminal first, so that it can be read.
	restore := wait.PanicHandlers.Replace(func(ctx context.Context, p *wait.Panic) {
		s.curtain.Fall()
		wait.LogPanic(ctx, p)
	})
	stopDrawing := story.Run(screen, s.teller)
	return func() {
		s.curtain.drop()
		stopDrawing()
		restore()
	}
}

// live reports whether there is a terminal to draw on.
func (s *show) live() bool { return s.config.Size != nil }

// narrowest is the minimum width of lines.
const narrowest = 20

// width returns the width of printed lines.
func (s *show) width() int {
	width := s.config.Width
	if s.live() {
		width = s.config.Size().Width
	}
	if width == 0 {
		return story.PlainWidth
	}
	return max(narrowest, min(width, story.PlainWidth))
}

var errTooLong = errors.New("it did not end within two minutes; the lines above show how far it got")

// play plays the scene. It returns the stage, if it was opened, with the controller running.
func (s *show) play(ctx context.Context) (on *stage.Stage, err error) {
	playing := WithoutLimits(ctx)
	if s.config.Gates == nil {
		limited, cancel := context.WithTimeoutCause(ctx, timeout, errTooLong) // only the scene: the controller may run longer
		defer cancel()
		playing = limited
	}
	config := s.stage
	if s.live() {
		config.FillTime = fillTime
	}
	if on, err = stage.Open(ctx, config, s.scene.Options); err != nil {
		return nil, err
	}
	err = s.scene.Play(playing, on)
	if err != nil && context.Cause(playing) != nil {
		err = context.Cause(playing)
	}
	return on, err
}

// Config configures a demo.
type Config struct {
	// Scene is the name of the scene; "": Default.
	Scene string
	// Lang is the language of what is told; "": English.
	Lang words.Lang
	// Objects is the number of objects in the namespace; 0: stage.DefaultObjects.
	Objects int
	// Gears are the controller's gears.
	Gears gears.Set
	// Recorder records what the gears do; nil: nothing.
	Recorder *trace.Recorder
	// Guide leads a reader through the scene; nil: there is none.
	Guide *stage.Session
	// Gates hold items at the seams between the gears; nil: none. With gates a scene has no time
	// limit.
	Gates *stage.Gates
	// Listen is the address of the server; "": a free port of the loopback interface.
	Listen string

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

// NewServer returns a server and the credentials of its clients. They are separate users, so that a
// fault can affect one of them.
func NewServer(listen string) (*apiserver.Server, map[story.Client]restclient.Credentials, error) {
	tokens, made := map[string]apiserver.User{}, map[story.Client]restclient.Credentials{}
	for who, user := range stage.Users() {
		token := string(who) + "-" + rand.Text()
		tokens[token] = apiserver.User{Name: user, Groups: []string{apiserver.GroupMasters}}
		var err error
		if made[who], err = credentials.NewToken(token); err != nil {
			return nil, nil, err
		}
	}
	server, err := apiserver.New(apiserver.Config{Listen: listen, TLS: true, Demo: true, Tokens: tokens})
	return server, made, err
}

// Connection returns the client configuration for a listening server.
func Connection(server *apiserver.Server) restclient.Config {
	return restclient.Config{
		Host:  server.URL(),
		TLS:   restclient.TLS{CAData: server.CertificateAuthority()},
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, // the server is on this machine
	}
}

// StopServer stops the server and waits two seconds at most for requests in flight.
func StopServer(server *apiserver.Server) {
	ending, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Stop(ending)
}
