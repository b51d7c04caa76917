package demo

import (
	"context"
	"io"
	"time"

	"orrery/internal/gears"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo/display"
)

// Config says what is to be shown, and where.
type Config struct {
	// Scene is the name of the scene; "": scenes.Default.
	Scene string
	// Objects is how many objects the namespace is filled with; 0: stage.DefaultObjects.
	Objects int
	// Gears are those that the controller runs with.
	Gears gears.Set
	// Listen is the address of the server; "": a free port of the loopback interface.
	Listen string

	// Out is written to. Size, if not nil, makes it a terminal: the scene is drawn live. Color and Glyphs say how.
	Out    io.Writer
	Size   func() display.Size
	Color  bool
	Glyphs *display.Glyphs
	// Width is where lines are wrapped if there is no Size; 0: display.PlainWidth.
	Width int

	// Started, if not nil, is called when the server has started, before the scene. What it returns is told.
	Started func(server *apiserver.Server) (string, error)
	// Keep, if not nil, is called after the summary, with server and controller still running. It returns when they are
	// to end.
	Keep func(ctx context.Context, server *apiserver.Server) error
}

// fillTime is how long filling the namespace is made to take on a terminal: long enough to see the bars grow.
const fillTime = 2 * time.Second

// patience is how long a scene may take. It is there for the day on which something is broken.
const patience = 2 * time.Minute
