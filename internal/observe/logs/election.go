package logs

import (
	"fmt"
	"time"

	"orrery/internal/leaderelection"
)

// Election returns hooks that log an election. Repeated failures for the same reason are logged
// once; with -v1, each.
func (l *Logger) Election() *leaderelection.Trace {
	told := ""
	return &leaderelection.Trace{
		NewLeader: func(identity string, silent time.Duration) {
			line := l.Info().Str("leader", identity)
			if silent > 0 {
				line = line.Dur("silence_s", rounded(silent))
			}
			line.Msg("standing by, another replica leads")
		},
		Acquired: func(term leaderelection.Term) {
			told = ""
			line := l.Info().Str("identity", term.Identity).Int("transitions", term.Transitions)
			if term.Predecessor != "" {
				line = line.Str("predecessor", term.Predecessor)
			}
			if term.Silent > 0 {
				line = line.Dur("silence_s", rounded(term.Silent))
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
				l.Warn().Err(err).Bool("leading", leading).Msg("an attempt to get or to keep the Lease failed")
				return
			}
			l.at(verbosityPasses).Err(err).Bool("leading", leading).Msg("an attempt to get or to keep the Lease failed again")
		},
		Lost: func(error) { // the last line of the run says why
			l.Warn().Msg("lost leadership, stopping at once")
		},
		Released: func(err error) {
			if err != nil {
				l.Warn().Err(err).Msg("the Lease could not be released: the other replicas wait until it expires")
				return
			}
			l.Info().Msg("released the Lease")
		},
		WatchFailed: func(err error, forbidden bool) {
			if forbidden {
				l.Info().Err(err).Msg("watching the Lease is forbidden, polling instead")
				return
			}
			l.at(verbosityPasses).Err(err).Msg("watching the Lease failed, retrying")
		},
	}
}
