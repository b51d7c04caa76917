package steps

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// Connect returns a client of the server that kubectl would speak to. Without one it ends the
// program.
func Connect() *restclient.Client {
	config, _, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		fail(err)
	}
	client, err := restclient.New(config)
	if err != nil {
		fail(err)
	}
	return client
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, Explain(err))
	os.Exit(1)
}

const startServer = "start bin/lab serve and type the line that it prints, export KUBECONFIG=..."

// Explain returns what is missing and what to do about it, in one line.
func Explain(err error) string {
	_, noConfig := errors.AsType[*kubeconfig.NoConfigError](err)
	_, noFile := errors.AsType[*kubeconfig.FileError](err)
	_, noServer := errors.AsType[net.Error](err)
	switch {
	case noConfig || noFile:
		return "no server is configured: " + startServer
	case api.IsNotFound(err):
		return "the server does not know virtual machines: kubectl apply -f examples/virtualmachine/crd.yaml"
	case noServer:
		return fmt.Sprintf("the server cannot be reached: %s (%v)", startServer, err)
	}
	return err.Error()
}

// Verbose returns the configuration of an informer that prints why it sees nothing, once for each
// reason. By default an informer retries forever, and prints nothing.
func Verbose[T informer.Object](name string) informer.Config[T] {
	var mu sync.Mutex
	told := ""
	tell := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if text != told && text != "" {
			fmt.Fprintln(os.Stderr, text)
		}
		told = text
	}
	return informer.Config[T]{Name: name, Reflector: reflector.Config[T]{Trace: &reflector.Trace{
		BackOff:      func(_ time.Duration, err error) { tell(Explain(err)) },
		WatchStarted: func(api.ListOptions) { tell("") },
	}}}
}
