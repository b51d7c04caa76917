package verify

import (
	"context"
	"fmt"
	"os"
	"strings"

	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/labs/steps"
	"orrery/internal/lab/labs/texts"
)

// sceneIsNamed: the scene of the manifest exists, and both pages say how to play it.
func sceneIsNamed(_ context.Context, s *subject) (problems []string, err error) {
	name := s.lab.Run.Scene
	if name == "" {
		return nil, nil
	}
	if _, err := scenes.Named(name); err != nil {
		problems = append(problems, fmt.Sprintf("lab.yaml: scene: %v", err))
	}
	for _, lang := range []texts.Lang{texts.English, texts.Chinese} {
		page, err := os.ReadFile(s.lab.Readme(lang))
		if err != nil {
			return nil, err
		}
		if command := "lab demo --scene " + name; !strings.Contains(string(page), command) {
			problems = append(problems, fmt.Sprintf("%s: the page does not say %s", lang, command))
		}
	}
	return problems, nil
}

// scenesPlay: each scene plays to its end with the textbook gears. Virtual time is for tests alone,
// so a test of the scenes does it, for all of them at once.
func scenesPlay(ctx context.Context, s *subject) (problems []string, err error) {
	const test = "TestScenesWithOtherGears"
	output, _, err := steps.Go(ctx, s.repository, "test", "-v", "./internal/lab/demo/scenes", "-run", "^"+test+"$/^textbook$")
	if err != nil {
		return nil, err
	}
	for _, name := range scenes.Names() {
		if !strings.Contains(output, "--- PASS: "+test+"/textbook/"+name+" ") {
			problems = append(problems, fmt.Sprintf("the scene %s does not play to its end; see go test ./internal/lab/demo/scenes%s",
				name, saidBy(output, test+"/textbook/"+name)))
		}
	}
	return problems, nil
}

// saidBy returns the last lines that a test printed, each on a line of its own: those between its
// beginning and the next line of the testing package.
func saidBy(output, test string) string {
	_, said, _ := strings.Cut(output, "=== RUN   "+test+"\n")
	said, _, _ = strings.Cut(said, "\n=== ")
	said, _, _ = strings.Cut(said, "\n--- ")
	var text strings.Builder
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for _, line := range lines[max(0, len(lines)-shownLog):] {
		text.WriteString("\n  " + line)
	}
	return text.String()
}
