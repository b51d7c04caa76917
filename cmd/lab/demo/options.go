package demo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"orrery/controller/gears"
	"orrery/internal/app/program"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
	"orrery/internal/words"
)

// demoOptions are the flags of "lab demo".
type demoOptions struct {
	scene  string
	lang   string
	keep   bool
	plain  bool
	gears  gears.Set
	record trace.Options
	view   bool
	page   view.Flags
	pages  map[string]string // "lab run --scene": the learner's files, by the page that each stands for
}

func (o *demoOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.scene, "scene", demo.Default, "the `scene` to show: "+strings.Join(demo.Names(), ", "))
	flags.StringVar(&o.lang, "lang", "", "the language of what is told: en or zh-CN; default: that of the locale")
	flags.Var(&o.gears, "gears", "the form of each gear: fast, textbook, or a mixture such as fast,queue=textbook; "+
		"default: fast, with --view textbook in a scene that asks")
	flags.BoolVar(&o.view, "view", false, "show the scene in the browser, live, until Ctrl-C")
	o.page.AddTo(flags)
	flags.StringToStringVar(&o.pages, "yours", nil, "the learner's `files` with which lab run has built this program")
	_ = flags.MarkHidden("yours") // it exists
	o.record.AddTo(flags)
	flags.BoolVar(&o.keep, "keep", false, "keep server and controller running after the scene, for kubectl")
	flags.BoolVar(&o.plain, "plain", false, "write plain lines even on a terminal, as with --view")
}

// check reports the first invalid value.
func (o *demoOptions) check() error {
	scene, err := demo.Named(o.scene)
	if err != nil {
		return fmt.Errorf("--scene: %w", err)
	}
	_, noLang := words.ParseLang(o.lang)
	if err := cmp.Or(noLang, o.record.Check(), o.page.Check()); err != nil {
		return err
	}
	if !o.view && (o.page.Port != 0 || o.page.NoOpen) {
		return errors.New("--view-port and --no-open need --view")
	}
	if scene.Options.Alone && (o.view || o.record.Wanted()) {
		return fmt.Errorf("the scene %s has no gear that the view or a recording could show", o.scene)
	}
	if o.keep && scene.Options.Bare {
		return fmt.Errorf("the scene %s has no controller that --keep could keep", o.scene)
	}
	return nil
}

// config returns the configuration from the flags and the terminal.
func (o *demoOptions) config(stdout io.Writer) demo.Config {
	lang, _ := words.ParseLang(o.lang) // it was checked
	config := demo.Config{
		Scene: o.scene, Lang: lang, Color: program.WantsColor(stdout), Gears: o.gears,
	}
	file, ok := program.Underlying(stdout).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return config
	}
	size := func() story.Size {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return story.Size{Width: 80, Height: 24}
		}
		return story.Size{Width: width, Height: height}
	}
	if o.plain || o.view || os.Getenv("TERM") == "dumb" {
		config.Width = size().Width
	} else {
		config.Size = size
	}
	return config
}
