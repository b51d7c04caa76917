package stage

import (
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/restclient"
)

// newClient makes the client of one of those who take part, with its requests counted.
func newClient(config Config, who story.Client) (*restclient.Client, error) {
	server := config.Server
	server.Credentials = config.Credentials[who]
	server.QPS = -1
	server.Codec = config.Gears.Codec()
	server.UserAgent = "orrery-demo/" + string(who)
	server.Trace = requestTrace(config.Teller, who)
	return restclient.New(server)
}

// requestTrace counts requests by verb. Requests that are about no resource, such as those of discovery, are gets.
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
			teller.Tell(story.Deleter, "%s %s is repeated in %v: %v", info.Method, info.Path, wait, err)
		}
	}
	return trace
}
