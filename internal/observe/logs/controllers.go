package logs

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"orrery/controller"
	"orrery/controller/leaderelection"
	"orrery/restclient/api"
	"orrery/wait"
)

// passLog logs the passes of a controller and the story of each key.
type passLog struct {
	*Logger
	controller string
	fields     func(line *zerolog.Event, key string) *zerolog.Event // of each line
	stories    *stories
}

// line adds the key and the pass to a line.
func (l *passLog) line(line *zerolog.Event, key string) *zerolog.Event {
	return l.passes.of(l.controller, key, l.fields(line, key))
}

// pass begins a line that is written with -v1.
func (l *passLog) pass(key string) *zerolog.Event { return l.line(l.At(verbosityPasses), key) }

// news begins a line at the given level, or at -v1 if the same text was logged for this key within
// the last minute.
func (l *passLog) news(level zerolog.Level, key, text string) *zerolog.Event {
	if l.stories.isNews(key, text) {
		return l.line(l.zero.WithLevel(level), key)
	}
	return l.pass(key)
}

func (l *passLog) begun(ctx context.Context, key string) context.Context {
	return l.passes.begin(ctx, l.controller, key)
}

func (l *passLog) started(key string) { l.pass(key).Msg("pass started") }

func (l *passLog) panicked(key string, err *wait.Panic) {
	l.line(l.Error(), key).Err(err).Bytes("stack", err.Stack).Msg("pass panicked, retrying")
}

// failed logs the end of a pass with an error.
func (l *passLog) failed(key string, took time.Duration, failures int, err error) {
	if errors.Is(err, controller.ErrCutShort) || leaderelection.IsLost(err) {
		l.line(l.Warn(), key).Dur("took_s", rounded(took)).Err(err).
			Msg("pass interrupted, the next run or leader repeats it")
		return
	}
	l.news(zerolog.WarnLevel, key, err.Error()).Dur("took_s", rounded(took)).Int("failures", failures).Err(err).
		Msg("pass failed, retrying")
}

// Controller returns hooks that log the passes of a controller.
func (l *Logger) Controller(name string) *controller.PoolTrace {
	log := &passLog{
		Logger: l, controller: name, stories: newStories(),
		fields: func(line *zerolog.Event, key string) *zerolog.Event {
			return line.Str("controller", name).Str("key", key)
		},
	}
	return &controller.PoolTrace{PassContext: log.begun, PassStarted: log.started, PassDone: log.done}
}

// ordinaryConflicts is how many conflicts in a row are logged at -v1 only. After each write, also
// the controller's own, the store of an informer is behind for a moment.
const ordinaryConflicts = 3

// done logs the end of a pass of any controller but that of namespaces.
func (l *passLog) done(key string, took time.Duration, failures int, after time.Duration, err error) {
	defer l.passes.end(l.controller, key)
	if err == nil {
		l.stories.end(key)
		line := l.pass(key).Dur("took_s", rounded(took))
		if after > 0 {
			line = line.Dur("next_look_in_s", rounded(after))
		}
		line.Msg("pass done")
		return
	}
	if panicked, ok := errors.AsType[*wait.Panic](err); ok {
		l.panicked(key, panicked)
		return
	}
	if api.IsConflict(err) && failures <= ordinaryConflicts {
		l.pass(key).Int("failures", failures).Err(err).
			Msg("conflict, the object has changed, retrying on the new state")
		return
	}
	l.stories.begin(key, "")
	l.failed(key, took, failures, err)
}
