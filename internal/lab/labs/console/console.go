// Package console runs the marked code blocks of a page. The info string "console run" asks for
// exit code 0 of every command; "console verify" asks for the output that the block shows, in which
// "…" stands for anything, and for no exit code, because a page may show a failure. A command
// begins with "$ "; the lines below it are its output.
package console

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/labs/texts"
)

// Block is a marked code block.
type Block struct {
	// Line is the line of the fence in the page.
	Line int
	// Verify reports that the output must match.
	Verify   bool
	Commands []Command
	// Text is the block with its fences.
	Text string
}

// Command is a command of a block.
type Command struct {
	Text string
	// Output is what the block shows below it.
	Output string
}

// fences are the first lines of marked blocks.
var fences = map[string]bool{"```console run": false, "```console verify": true}

// Blocks returns the marked blocks of a page.
func Blocks(page string) (blocks []Block) {
	number := 0
	var block *Block // the one that is open, if it is marked
	fenced := false
	for line := range strings.Lines(page) {
		number++
		line = strings.TrimRight(line, "\n")
		verify, marked := fences[line]
		switch {
		case !fenced && strings.HasPrefix(line, "```"):
			if fenced = true; marked {
				block = &Block{Line: number, Verify: verify, Text: line + "\n"}
			}
		case !fenced:
		case strings.HasPrefix(line, "```"):
			if fenced = false; block != nil {
				block.Text += line + "\n"
				blocks = append(blocks, *block)
				block = nil
			}
		case block != nil:
			block.add(line)
		}
	}
	return blocks
}

// add adds a line.
func (b *Block) add(line string) {
	b.Text += line + "\n"
	if command, ok := strings.CutPrefix(line, "$ "); ok {
		b.Commands = append(b.Commands, Command{Text: command})
		return
	}
	if last := len(b.Commands) - 1; last >= 0 {
		b.Commands[last].Output += line + "\n"
	}
}

// commandLimit ends a command that hangs, also on a busy machine.
const commandLimit = 5 * time.Minute

// Run runs the commands in a folder and returns what is wrong, or "".
func (b Block) Run(ctx context.Context, dir string, environment []string) (problem string, err error) {
	if len(b.Commands) == 0 {
		return "no line of the block begins with \"$ \"", nil
	}
	for _, command := range b.Commands {
		output, err := command.run(ctx, dir, environment)
		_, failed := errors.AsType[*exec.ExitError](err)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil && !failed:
			return "", err
		case b.Verify && !Matches(command.Output, output) && !Matches(command.Output, withoutNotice(output)):
			return fmt.Sprintf("%s: the output should be\n%sand is\n%s", command.Text, command.Output, output), nil
		case !b.Verify && failed:
			return fmt.Sprintf("%s: %v\n%s", command.Text, err, output), nil
		}
	}
	return "", nil
}

// withoutNotice returns an output without the line of "lab test" that says that there is no race
// detector. Pages show what a machine with a C compiler prints.
func withoutNotice(output string) string {
	var rest strings.Builder
	for line := range strings.Lines(output) {
		notice := slices.ContainsFunc(texts.Langs, func(lang texts.Lang) bool {
			return strings.TrimRight(line, " \n") == lang.Say("no-race-detector")
		})
		if !notice {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

func (c Command) run(ctx context.Context, dir string, environment []string) (output string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-c", c.Text)
	command.Dir, command.Env = dir, environment
	command.WaitDelay = time.Second // a program that it left behind may hold the output
	text, err := command.CombinedOutput()
	return string(text), err
}

// Matches reports whether an output matches a block. A line with "…" alone stands for any lines.
func Matches(want, got string) bool {
	var form strings.Builder
	for line := range strings.Lines(trimLines(want)) {
		if line == "…\n" {
			form.WriteString(`(?s:(?:.*\n)?)`)
			continue
		}
		form.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `(?s:.*)`))
	}
	return regexp.MustCompile(`^` + form.String() + `$`).MatchString(trimLines(got))
}

// trimLines removes spaces at the ends of lines, and makes the last line end like the others.
func trimLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, " \n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ") + "\n"
	}
	return strings.Join(lines, "")
}
