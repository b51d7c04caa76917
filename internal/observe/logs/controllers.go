package logs

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"orrery/examples/worker"
	"orrery/restclient/api"
	"orrery/wait"
)

// Controller returns hooks that tell how the passes of a controller go.
func (l *Logger) Controller(name string) *worker.Trace {
	log := &controllerLog{Logger: l, name: name, stories: newStories()}
	return &worker.Trace{
		PassContext: func(ctx context.Context, key string) context.Context { return l.passes.begin(ctx, name, key) },
		PassStarted: log.passStarted,
		PassDone:    log.passDone,
	}
}

// controllerLog tells the story of each key.
type controllerLog struct {
	*Logger
	name    string
	stories *stories
}

func (l *controllerLog) passStarted(key string) {
	l.line(l.at(verbosityPasses), key).Msg("pass started")
}

// ordinaryConflicts is how often in a row a pass may have met a change of somebody else before that is worth a warning. The store of
// an informer is behind for a moment after each write, the controller's own too.
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
		l.line(l.Error(), key).Err(err).Bytes("stack", panicked.Stack).Msg("pass panicked, it is going to be repeated")
		return
	}
	if errors.Is(err, worker.ErrCutShort) {
		l.line(l.Warn(), key).Dur("took_s", rounded(took)).Err(err).Msg("pass cut short, the next run begins it again")
		return
	}
	line := l.at(verbosityPasses)
	if api.IsConflict(err) && failures <= ordinaryConflicts {
		l.line(line, key).Int("failures", failures).Err(err).Msg("somebody else changed the object, trying again on the new state")
		return
	}
	l.stories.begin(key, "")
	if l.stories.isNews(key, err.Error()) {
		line = l.Warn()
	}
	l.line(line, key).Dur("took_s", rounded(took)).Int("failures", failures).Err(err).Msg("pass failed, it is going to be repeated")
}

// line says which pass of which controller a line is about.
func (l *controllerLog) line(line *zerolog.Event, key string) *zerolog.Event {
	return l.passes.of(l.name, key, line.Str("controller", l.name).Str("key", key))
}
