package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
	s, err := start(ctx, forConversations())
	if err != nil {
		return err
	}
	defer s.Stop()
	for _, script := range scripts {
		if !o.wants(script.Theme) {
			continue
		}
		if err := recordScript(ctx, s.target, script, filepath.Join(root, "apiservertest", "testdata")); err != nil {
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
