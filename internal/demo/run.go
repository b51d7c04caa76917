package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orrery/internal/apiserver"
	"orrery/internal/apiserver/authn"
	"orrery/internal/demo/display"
	"orrery/internal/demo/scenes"
	"orrery/internal/demo/stage"
	"orrery/internal/demo/story"
	"orrery/restclient"
	"orrery/restclient/credentials"
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
	server, keys, err := newServer(config.Listen)
	if err != nil {
		return err
	}
	defer stopServer(server)
	if err := server.Start(ctx); err != nil {
		return err
	}
	return show(ctx, config, scene, server, keys, curtain)
}

// keys are the bearer tokens of those who take part.
type keys map[story.Client]string

// newServer makes a server that knows the controller and the spectators as users of their own, so that faults can hit the
// one and not the others. The script is its administrator.
func newServer(listen string) (*apiserver.Server, keys, error) {
	tokens := keys{story.Controller: "controller-" + newSecret(), story.Spectators: "spectators-" + newSecret()}
	server, err := apiserver.New(apiserver.Config{
		Listen: listen, TLS: true,
		Tokens: map[string]apiserver.User{
			tokens[story.Controller]: {Name: stage.ControllerUser, Groups: []string{authn.GroupMasters}},
			tokens[story.Spectators]: {Name: stage.SpectatorsUser, Groups: []string{authn.GroupMasters}},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	tokens[story.Script] = server.Token()
	return server, tokens, nil
}

// stopServer ends the server; what is under way is not waited for long.
func stopServer(server *apiserver.Server) {
	ending, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Stop(ending)
}

// credentialsOf makes credentials of tokens.
func credentialsOf(tokens keys) (map[story.Client]restclient.Credentials, error) {
	made := map[story.Client]restclient.Credentials{}
	for who, token := range tokens {
		credential, err := credentials.NewToken(token)
		if err != nil {
			return nil, err
		}
		made[who] = credential
	}
	return made, nil
}

// show plays the scene on the server and draws it.
func show(ctx context.Context, config Config, scene scenes.Scene, server *apiserver.Server, tokens keys, curtain *Curtain) error {
	made, err := credentialsOf(tokens)
	if err != nil {
		return err
	}
	teller := story.New(scene.Name, scene.Happens, scene.Look)
	screen, printer := displays(config)
	if screen == nil {
		printer.Lines(display.Opening(teller.State(), display.PlainWidth))
	}
	stopDrawing := func() {}
	if screen != nil {
		curtain.rise(screen)
		defer wait.PanicHandlers.Replace(restoring(curtain))()
		stopDrawing = display.Run(screen, teller)
	} else {
		stopDrawing = display.Run(printer, teller)
	}
	defer stopDrawing()
	defer curtain.Fall()

	teller.Tell(story.Server, "an API server in memory listens on %s", server.URL())
	on, err := playOn(ctx, config, scene, server, made, teller)
	if on != nil {
		defer on.Close()
	}
	stopDrawing()
	if screen != nil { // what was told stays readable when the picture has gone
		printer.Lines(display.Opening(teller.State(), printer.Width()))
		printer.Draw(teller.State())
	}
	if err != nil {
		return ending(ctx, printer, err)
	}
	printer.Lines(display.Summary(teller.State(), printer.Width(), config.Glyphs))
	printer.Lines(display.Closing(scene.Lesson, printer.Width()))
	if config.Keep == nil {
		return nil
	}
	return config.Keep(ctx, server)
}

// playOn opens a stage and plays the scene on it. The stage is returned, if there is one, with the controller running.
func playOn(ctx context.Context, config Config, scene scenes.Scene, server *apiserver.Server, made map[story.Client]restclient.Credentials, teller *story.Teller) (*stage.Stage, error) {
	on, err := stage.Open(ctx, stage.Config{
		Teller: teller, Credentials: made, Faults: server.Faults(), Objects: config.Objects, FillTime: fillTime,
		Server: restclient.Config{Host: server.URL(), TLS: restclient.TLS{CAData: server.CertificateAuthority()}, Proxy: noProxy},
	}, scene.Options)
	if err != nil {
		return nil, because(ctx, err)
	}
	playing, cancel := context.WithTimeoutCause(ctx, patience, errTooLong) // the controller may go on longer than the scene
	defer cancel()
	if err := scene.Play(playing, on); err != nil {
		return on, because(playing, err)
	}
	teller.Update(func(s *story.State) { s.End("the end") })
	return on, nil
}

var errTooLong = errors.New("the scene has not ended in two minutes; the story above shows how far it came")

// because prefers the reason for which a context has ended to the error that came of it.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// ending says how the demo ended before its time. Somebody who ended it knows why.
func ending(ctx context.Context, printer *display.Printer, err error) error {
	if ctx.Err() == nil {
		return fmt.Errorf("the scene broke off: %w", err)
	}
	printer.Lines(display.Sentence("Stopped in the middle of the scene: controller, spectators and server have ended in good order, and nothing is left behind."))
	return nil
}

// displays makes the screen, if there is a terminal, and the printer.
func displays(config Config) (*display.Screen, *display.Printer) {
	if config.Size == nil {
		return nil, display.NewPrinter(config.Out, display.PlainWidth, config.Color)
	}
	width := min(config.Size().Width, display.PlainWidth)
	return display.NewScreen(config.Out, config.Size, config.Color, config.Glyphs), display.NewPrinter(config.Out, width, config.Color)
}
