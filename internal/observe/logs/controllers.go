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

// Controller returns hooks that log the passes of a controller.
func (l *Logger) Controller(name string) *controller.PoolTrace {
	log := &controllerLog{Logger: l, name: name, stories: newStories()}
	return &controller.PoolTrace{
		PassContext: func(ctx context.Context, key string) context.Context { return l.passes.begin(ctx, name, key) },
		PassStarted: log.passStarted,
		PassDone:    log.passDone,
	}
}

// controllerLog logs the story of each key.
type controllerLog struct {
	*Logger
	name    string
	stories *stories
}

func (l *controllerLog) passStarted(key string) {
	l.line(l.at(verbosityPasses), key).Msg("pass started")
}

// ordinaryConflicts is how many conflicts in a row are logged at -v1 only. After each write, also
// the controller's own, the store of an informer is behind for a moment.
const ordinaryConflicts = 3

func (l *controllerLog) passDone(key string, took time.Duration, failures int, after time.Duration, err error) {
	defer l.passes.end(l.name, key)
	if err == nil {
		l.stories.end(key)
		line := l.line(l.at(verbosityPasses), key).Dur("took_s", rounded(took))
		if after > 0 {
			line = line.Dur("next_look_in_s", rounded(after))
		}
		line.Msg("pass done")
		return
	}
	if panicked, ok := errors.AsType[*wait.Panic](err); ok {
		l.line(l.Error(), key).Err(err).Bytes("stack", panicked.Stack).Msg("pass panicked, retrying")
		return
	}
	if errors.Is(err, controller.ErrCutShort) || leaderelection.IsLost(err) {
		l.line(l.Warn(), key).Dur("took_s", rounded(took)).Err(err).Msg("pass interrupted, the next run or leader repeats it")
		return
	}
	line := l.at(verbosityPasses)
	if api.IsConflict(err) && failures <= ordinaryConflicts {
		l.line(line, key).Int("failures", failures).Err(err).Msg("conflict, the object has changed, retrying on the new state")
		return
	}
	l.stories.begin(key, "")
	if l.stories.isNews(key, err.Error()) {
		line = l.Warn()
	}
	l.line(line, key).Dur("took_s", rounded(took)).Int("failures", failures).Err(err).Msg("pass failed, retrying")
}

// line adds the controller, the key and the pass to a line.
func (l *controllerLog) line(line *zerolog.Event, key string) *zerolog.Event {
	return l.passes.of(l.name, key, line.Str("controller", l.name).Str("key", key))
}
