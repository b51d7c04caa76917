package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"orrery/internal/lab/course"
	"orrery/internal/words"
)

func newQuizCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "quiz [NN]",
		Short: "Predict what a gear does, and see whether it does",
		Long: `Asks the questions of a lab. Without a number it asks those of the lab in
whose folder you are, or those of all labs in order. After your answer you see
why it is right or wrong, and what the reference does, step by step.

Answer with a letter. Enter skips a question, and the end of the input (Ctrl-D)
all that are left. Your answers are kept with your progress.`,
		Example: `  # the questions about the work queue
  lab quiz 08

  # those of all labs
  lab quiz`,
		RunE: opened(func(s *session, args []string) error {
			labs, err := s.oneOrAll(args)
			if err != nil {
				return err
			}
			var questions []question
			for _, lab := range labs {
				questions = append(questions, questionsOf(lab)...)
			}
			return s.ask(questions)
		}),
	}
}

// question is a question with its place.
type question struct {
	*course.Question
	lab    *course.Lab
	number int
}

func questionsOf(lab *course.Lab) (questions []question) {
	for i := range lab.Questions {
		questions = append(questions, question{&lab.Questions[i], lab, i + 1})
	}
	return questions
}

// askFirst asks the questions of a lab that were never answered, if there is a terminal.
func (s *session) askFirst(lab *course.Lab) error {
	if !s.isTerminal() {
		return nil
	}
	progress, err := s.progress(lab)
	if err != nil {
		return err
	}
	questions := slices.DeleteFunc(questionsOf(lab), func(q question) bool { return progress.Answers[q.ID] != "" })
	if len(questions) == 0 {
		return nil
	}
	s.print("quiz-first", len(questions))
	return s.ask(questions)
}

func (s *session) isTerminal() bool {
	in, ok := s.InOrStdin().(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// ask asks questions until the input ends, which skips all that are left.
func (s *session) ask(questions []question) error {
	input := bufio.NewScanner(s.InOrStdin())
	answered, right := 0, 0
	for _, q := range questions {
		s.pose(q)
		chosen, more := s.answer(q.Question, input)
		if chosen != nil {
			answered++
			if chosen == q.Right() {
				right++
			}
			s.comment(q.Question, chosen)
			err := s.update(q.lab, func(p *course.LabProgress) {
				if p.Answers == nil {
					p.Answers = map[string]string{}
				}
				p.Answers[q.ID] = chosen.Is
			})
			if err != nil {
				return err
			}
		}
		if !more {
			break
		}
	}
	if answered > 0 {
		s.print("quiz-sum", right, answered)
	}
	return nil
}

// pose writes a question with its choices.
func (s *session) pose(q question) {
	out := s.OutOrStdout()
	s.print("quiz-question", q.lab.ID, q.lab.Title.In(s.lang), q.number, len(q.lab.Questions))
	fmt.Fprintf(out, "\n%s\n\n", s.paragraph(q.Text))
	for i, choice := range q.Choices {
		fmt.Fprintf(out, "  %s  %s\n", letter(i), choice.In(s.lang))
	}
	fmt.Fprintln(out)
}

func letter(i int) string { return string(rune('a' + i)) }

// answer reads an answer. It returns nil if the question is skipped; more is false at the end of
// the input.
func (s *session) answer(q *course.Question, input *bufio.Scanner) (chosen *course.Choice, more bool) {
	last := letter(len(q.Choices) - 1)
	for {
		fmt.Fprint(s.OutOrStdout(), s.say("quiz-prompt", last))
		more := input.Scan()
		if !more || !s.isTerminal() { // a terminal has echoed the answer
			fmt.Fprintln(s.OutOrStdout(), input.Text())
		}
		answer := strings.ToLower(strings.TrimSpace(input.Text()))
		if !more || answer == "" {
			return nil, more
		}
		if i := int(answer[0] - 'a'); len(answer) == 1 && i >= 0 && i < len(q.Choices) {
			return &q.Choices[i], true
		}
		s.print("quiz-letters", last)
	}
}

// comment prints whether an answer is right, what was believed, why it is so, and what the
// reference does.
func (s *session) comment(q *course.Question, chosen *course.Choice) {
	out := s.OutOrStdout()
	if right := q.Right(); chosen == right {
		s.print("quiz-right")
	} else {
		s.print("quiz-wrong", right.In(s.lang))
		belief := s.say("quiz-belief", chosen.Belief.In(s.lang))
		fmt.Fprintln(out, s.paragraph(words.Text{English: belief, Chinese: belief}))
	}
	fmt.Fprintf(out, "%s\n", s.paragraph(q.Why))
	s.print("quiz-run")
	for line := range strings.Lines(q.Script) {
		fmt.Fprint(out, "    ", line)
	}
}
