// Package recorder plays the scripts of internal/lab/apiserver/apiservertest on a genuine
// kube-apiserver and records its answers, masked, for comparison with the server in memory. The
// only controller is the garbage collector, since deletion is compared, and the admission plugin
// ServiceAccount is off, since it refuses pods without service accounts. A recording is written
// only when every case has an answer, and recording twice changes no file, which the test checks.
//
//	make -C upstream record                         # a fresh control plane for each script
//	go run ./apiserver/recorder/cmd/record --kubeconfig FILE   # a running one
package recorder

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/internal/lab/apiserver/apiservertest"
	"orrery/upstream/controlplane"
)

// Config returns the control plane of the recordings.
func Config() controlplane.Config {
	return controlplane.Config{
		Controllers:   []string{"garbage-collector-controller"},
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount"},
	}
}

// TargetFor returns the server of a kubeconfig file, whose user must be an administrator. The
// client speaks HTTP/1.1 and adds only credentials.
func TargetFor(kubeconfig string) (apiservertest.Target, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return apiservertest.Target{}, fmt.Errorf("recorder: %w", err)
	}
	user, err := transportFor(config)
	if err != nil {
		return apiservertest.Target{}, err
	}
	anonymous, err := transportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return apiservertest.Target{}, err
	}
	return apiservertest.Target{URL: config.Host, Transport: user, Anonymous: anonymous}, nil
}

func transportFor(config *rest.Config) (http.RoundTripper, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	return transport, nil
}

// Record plays a script on a server and writes the recording to a directory.
func Record(ctx context.Context, target apiservertest.Target, script *apiservertest.Script, dir string) error {
	player := apiservertest.NewPlayer(target)
	var answers []*apiservertest.Answer
	for _, c := range script.Cases {
		answer, err := player.Play(ctx, c)
		if err != nil {
			return fmt.Errorf("record %s: %q: %w", script.Theme, c.Title, err)
		}
		answers = append(answers, answer)
	}
	text := apiservertest.FormatRecording(script, answers)
	if _, err := apiservertest.ParseRecording(script, text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, apiservertest.RecordingFile(script)), []byte(text), 0o644)
}
