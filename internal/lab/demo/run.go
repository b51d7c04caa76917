package demo

import (
	"context"
	"errors"
	"fmt"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// Run shows a scene. The curtain is the caller's, who may let it fall early.
func Run(ctx context.Context, config Config, curtain *Curtain) error {
	if config.Scene == "" {
		config.Scene = scenes.Default
	}
	scene, err := scenes.Named(config.Scene)
	if err != nil {
		return err
	}
	server, credentials, err := newServer(config.Listen)
	if err != nil {
		return err
	}
	defer stopServer(server)
	if err := server.Start(ctx); err != nil {
		return err
	}
	teller := story.New(scene.Name, scene.Happens, scene.Look)
	teller.Tell(story.Server, "an API server in memory listens on %s", server.URL())
	teller.Tell(story.Demo, "the gears are %s: --gears chooses others", config.Gears)
	if config.Started != nil {
		words, err := config.Started(server)
		if err != nil {
			return err
		}
		teller.Tell(story.You, "%s", words)
	}
	s := show{
		config: config, scene: scene, teller: teller, curtain: curtain,
		stage: stage.Config{
			Teller: teller, Server: connection(server), Credentials: credentials, Faults: server.Faults(), Objects: config.Objects,
			Gears: config.Gears,
		},
	}
	if config.Keep != nil {
		s.keep = func(ctx context.Context) error { return config.Keep(ctx, server) }
	}
	return s.run(ctx)
}

// show is a scene that is played for somebody.
type show struct {
	config  Config
	scene   scenes.Scene
	teller  *story.Teller
	curtain *Curtain
	stage   stage.Config
	keep    func(context.Context) error // nil: the end is the end
}

// run plays the scene, draws it, and says what it took and what was learnt.
func (s *show) run(ctx context.Context) error {
	printer := display.NewPrinter(s.config.Out, s.width(), s.config.Color)
	stopDrawing := s.draw(printer)
	defer stopDrawing()

	on, err := s.play(ctx)
	if on != nil {
		defer on.Close()
	}
	stopDrawing()
	if s.live() { // what was told stays readable when the picture has gone
		printer = display.NewPrinter(s.config.Out, s.width(), s.config.Color) // by now the terminal may have another width
		printer.Lines(display.Opening(s.teller.State(), s.width()))
		printer.Draw(s.teller.State())
	}
	if ctx.Err() != nil {
		printer.Lines(display.Sentence("Stopped in the middle of the scene. Controller, spectators and server end in good order; nothing is left behind.", s.width()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("the scene broke off: %w", err)
	}
	printer.Lines(display.Summary(s.teller.State(), s.width(), s.config.Glyphs))
	printer.Lines(display.Closing(s.scene.LessonOf(s.config.Gears), s.width()))
	if s.keep == nil {
		return nil
	}
	return s.keep(ctx)
}

// draw begins to show the story, on the whole terminal or with the printer. stop ends that.
func (s *show) draw(printer *display.Printer) (stop func()) {
	if !s.live() {
		printer.Lines(display.Opening(s.teller.State(), s.width()))
		return display.Run(printer, s.teller)
	}
	screen := display.NewScreen(s.config.Out, s.config.Size, s.config.Color, s.config.Glyphs)
	s.curtain.rise(screen)
	// A panic of a gear gives the terminal back first, so that it can be read.
	restore := wait.PanicHandlers.Replace(func(ctx context.Context, p *wait.Panic) {
		s.curtain.Fall()
		wait.LogPanic(ctx, p)
	})
	stopDrawing := display.Run(screen, s.teller)
	return func() {
		s.curtain.drop()
		stopDrawing()
		restore()
	}
}

// live tells whether there is a terminal to draw on.
func (s *show) live() bool { return s.config.Size != nil }

// narrowest is the least width that lines are wrapped at: below it there is nothing left to read.
const narrowest = 20

// width is that of printed lines.
func (s *show) width() int {
	width := s.config.Width
	if s.live() {
		width = s.config.Size().Width
	}
	if width == 0 {
		return display.PlainWidth
	}
	return max(narrowest, min(width, display.PlainWidth))
}

var errTooLong = errors.New("it has not ended in two minutes; the story above shows how far it came")

// play opens a stage and plays the scene on it. The stage is returned, if there is one, with the controller running.
func (s *show) play(ctx context.Context) (*stage.Stage, error) {
	config := s.stage
	if s.live() {
		config.FillTime = fillTime
	}
	on, err := stage.Open(ctx, config, s.scene.Options)
	if err != nil {
		return nil, err
	}
	playing, cancel := context.WithTimeoutCause(ctx, patience, errTooLong) // the controller may go on longer than the scene
	defer cancel()
	err = s.scene.Play(playing, on)
	if err != nil && context.Cause(playing) != nil {
		err = context.Cause(playing)
	}
	return on, err
}
