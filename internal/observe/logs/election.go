package logs

import (
	"fmt"
	"time"

	"orrery/internal/leaderelection"
)

// Election returns hooks that tell how an election goes. Attempts that fail again and again for the same reason are told
// once, and from -v1 on each.
func (l *Logger) Election() *leaderelection.Trace {
	told := ""
	return &leaderelection.Trace{
		NewLeader: func(identity string) {
			l.Info().Str("leader", identity).Msg("standing by, another one leads")
		},
		Acquired: func(term leaderelection.Term) {
			told = ""
			line := l.Info().Str("identity", term.Identity).Int("transitions", term.Transitions)
			if term.Predecessor != "" {
				line = line.Str("predecessor", term.Predecessor)
			}
			line.Msg("became leader")
		},
		Renewed: func(took time.Duration) {
			told = ""
			l.at(verbosityEvents).Dur("took_s", rounded(took)).Msg("renewed the Lease")
		},
		Failed: func(err error, leading bool) {
			if text := fmt.Sprint(err); text != told {
				told = text
				l.Warn().Err(err).Bool("leading", leading).Msg("an attempt to get or to keep the Lease failed, trying again")
				return
			}
			l.at(verbosityPasses).Err(err).Bool("leading", leading).Msg("an attempt to get or to keep the Lease failed again")
		},
		Lost: func(err error) {
			l.Error().Err(err).Msg("lost leadership, stopping at once")
		},
		Released: func(err error) {
			if err != nil {
				l.Warn().Err(err).Msg("the Lease could not be given back, the others wait until it runs out")
				return
			}
			l.Info().Msg("gave the Lease back")
		},
		WatchFailed: func(err error, forbidden bool) {
			if forbidden {
				l.Info().Err(err).Msg("the Lease may not be watched, going by retries alone")
				return
			}
			l.at(verbosityPasses).Err(err).Msg("watching the Lease failed, trying again")
		},
	}
}
