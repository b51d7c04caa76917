package script

import (
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sync"
	"time"

	"orrery/internal/observe/trace"
)

// viewArguments make "orrery run" serve its trace, at a free port: the page is that of lab.
var viewArguments = []string{"--view", "--no-open"}

// traceAddress is what "orrery run --view" prints.
var traceAddress = regexp.MustCompile(`The view: (http://\S+)`)

// follow passes the trace of a process on until the process has ended. It calls begun once, before
// the first event or at the end.
func (p *process) follow(logFile string, to *trace.Relay, begun func()) {
	once := sync.OnceFunc(begun)
	defer once()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		text, _ := os.ReadFile(logFile) // it exists, and says nothing yet
		if found := traceAddress.FindSubmatch(text); found != nil {
			p.read(string(found[1]), to, once)
			break
		}
		select {
		case <-look.C:
		case <-p.ended:
			return
		}
	}
	<-p.ended
}

// read reads the lines of a page's address to their end. Those of a process that is killed end in
// the middle.
func (p *process) read(address string, to *trace.Relay, begun func()) {
	page, err := url.Parse(address)
	if err != nil {
		return
	}
	page.Path = "/trace"
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Get(page.String())
	if err != nil {
		return // it has ended
	}
	defer answer.Body.Close()
	_ = to.Follow(answer.Body, begun)
}
