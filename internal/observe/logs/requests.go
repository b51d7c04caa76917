package logs

import (
	"sync"
	"time"

	"orrery/restclient"
)

// throttleNotice is the wait for the client's own rate limit from which on it is worth a line.
const throttleNotice = time.Second

// Requests returns hooks that tell what is asked of the API server.
func (l *Logger) Requests() *restclient.Trace {
	return &restclient.Trace{
		RequestDone: func(info restclient.RequestInfo, result restclient.RequestResult) {
			event := origin(info.Origin, l.at(verbosityRequests)).Str("method", info.Method).Str("path", info.Path).
				Int("code", result.Code).Dur("took_s", rounded(result.Duration))
			if result.Err != nil {
				event = event.Err(result.Err)
			}
			event.Msg("request")
		},
		Retry: func(info restclient.RequestInfo, wait time.Duration, err error) {
			origin(info.Origin, l.at(verbosityPasses)).Str("method", info.Method).Str("path", info.Path).Int("attempt", info.Attempt).
				Dur("wait_s", rounded(wait)).Err(err).Msg("request is going to be repeated")
		},
		Throttled: func(info restclient.RequestInfo, wait time.Duration) {
			if wait >= throttleNotice {
				origin(info.Origin, l.Warn()).Str("method", info.Method).Str("path", info.Path).Dur("waited_s", rounded(wait)).Msg("request waited for the client's own rate limit, see --kube-api-qps")
			}
		},
		Warning: (&warningLog{Logger: l, told: map[string]bool{}}).warn,
	}
}

// manyWarnings bounds what is remembered; a server with more different warnings than that repeats itself.
const manyWarnings = 1000

// warningLog tells each warning once: a server repeats it with every request, and a namespace controller makes the
// same requests again and again.
type warningLog struct {
	*Logger

	// mu guards told.
	mu   sync.Mutex
	told map[string]bool
}

func (l *warningLog) warn(warning restclient.Warning) {
	switch {
	case !l.isNew(warning.Text):
	case warning.Code == 0: // the client's own
		l.Warn().Str("warning", warning.Text).Msg("the connection is not safe")
	default: // of types that are going to be removed, mostly: nothing that the operator of a controller could change
		origin(warning.Origin, l.at(verbosityPasses)).Str("warning", warning.Text).Msg("the API server warns")
	}
}

func (l *warningLog) isNew(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[text] {
		return false
	}
	if len(l.told) >= manyWarnings {
		clear(l.told)
	}
	l.told[text] = true
	return true
}
