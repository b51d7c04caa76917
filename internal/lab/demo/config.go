package demo

import (
	"context"
	"io"
	"time"

	"orrery/internal/gears"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/view"
	"orrery/internal/observe/trace"
)

// Config configures a demo.
type Config struct {
	// Scene is the name of the scene; "": scenes.Default.
	Scene string
	// Objects is the number of objects in the namespace; 0: stage.DefaultObjects.
	Objects int
	// Gears are the controller's gears.
	Gears gears.Set
	// Recorder records what the gears do; nil: nothing.
	Recorder *trace.Recorder
	// Guide leads a reader through the scene; nil: there is none.
	Guide *view.Session
	// Gates hold items at the seams between the gears; nil: none. With gates a scene has no time
	// limit.
	Gates *view.Gates
	// Listen is the address of the server; "": a free port of the loopback interface.
	Listen string

	// Out is the output. If Size is not nil, Out is a terminal and the scene is drawn live, with Color
	// and Glyphs.
	Out    io.Writer
	Size   func() display.Size
	Color  bool
	Glyphs *display.Glyphs
	// Width is the width of lines if Size is nil; 0: display.PlainWidth.
	Width int

	// The next two are for a scene with a server; see scenes.Scene.Alone.

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
