package stage

import (
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/restclient"
)

// newClient returns a client whose requests are counted. more is another trace, or nil.
func newClient(config Config, who story.Client, more *restclient.Trace) (*restclient.Client, error) {
	server := config.Server
	server.Credentials = config.Credentials[who]
	server.QPS = -1
	server.Codec = config.Gears.Codec()
	server.UserAgent = "orrery-demo/" + string(who)
	server.Trace = restclient.JoinTraces(requestTrace(config.Teller, who), more)
	if who != story.Script { // the script is outside of the recorded process
		server.Trace = restclient.JoinTraces(server.Trace, config.Recorder.Requests())
	}
	return restclient.New(server)
}

// requestTrace counts requests by verb. Discovery counts as get.
func requestTrace(teller *story.Teller, who story.Client) *restclient.Trace {
	trace := &restclient.Trace{
		RequestDone: func(info restclient.RequestInfo, _ restclient.RequestResult) {
			verb := info.Verb
			if verb == "" {
				verb = "get"
			}
			teller.Update(func(s *story.State) {
				if s.Requests[who] == nil {
					s.Requests[who] = map[string]int{}
				}
				s.Requests[who][verb]++
			})
		},
	}
	if who == story.Controller {
		trace.Retry = func(info restclient.RequestInfo, wait time.Duration, err error) {
			teller.Tell(story.Deleter, "%s %s is retried in %v: %v", info.Method, info.Path, wait, err)
		}
	}
	return trace
}
