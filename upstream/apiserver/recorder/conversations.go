package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/internal/lab/apiserver/apiservertest"
	"orrery/upstream/controlplane"
)

// recordConversations plays the scripts of package apiservertest on a genuine kube-apiserver and
// records its answers, masked, for comparison with the server in memory. The only controller is the
// garbage collector, since deletion is compared, and the admission plugin ServiceAccount is off,
// since it refuses pods without service accounts. A recording is written only when every case has an
// answer, and recording twice changes no file, which the test checks.
func recordConversations(ctx context.Context, o order) error {
	scripts, err := apiservertest.Scripts()
	if err != nil {
		return err
	}
	cp, err := controlplane.Start(ctx, forConversations())
	if err != nil {
		return err
	}
	defer cp.Stop()
	target, err := targetFor(cp.Kubeconfig())
	if err != nil {
		return err
	}
	for _, script := range scripts {
		if !o.wants(script.Theme) {
			continue
		}
		if err := recordScript(ctx, target, script, filepath.Join(root, "apiservertest", "testdata")); err != nil {
			return err
		}
		fmt.Printf("%-16s %d answers\n", script.Theme, len(script.Cases))
	}
	return nil
}

// forConversations returns the control plane of the recordings.
func forConversations() controlplane.Config {
	return controlplane.Config{
		Controllers:   []string{"garbage-collector-controller"},
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount"},
	}
}

// targetFor returns the server of a kubeconfig file, whose user must be an administrator. The
// client speaks HTTP/1.1 and adds only credentials.
func targetFor(kubeconfig string) (apiservertest.Target, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return apiservertest.Target{}, err
	}
	user, err := rest.TransportFor(config)
	if err != nil {
		return apiservertest.Target{}, err
	}
	anonymous, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return apiservertest.Target{}, err
	}
	return apiservertest.Target{URL: config.Host, Transport: user, Anonymous: anonymous}, nil
}

// recordScript plays a script on a server and writes the recording to a directory.
func recordScript(ctx context.Context, target apiservertest.Target, script *apiservertest.Script, dir string) error {
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
