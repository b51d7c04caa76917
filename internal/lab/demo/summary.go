package story

// Opening draws the introduction: what happens and what to watch.
func Opening(s State, width int) []string {
	lines := []string{"lab demo" + s.Say(", scene ") + s.Scene}
	lines = append(lines, hanging("  ", s.Words.Happens.In(s.Lang), width)...)
	lines = append(lines, hanging("  ", s.Words.Look.In(s.Lang), width)...)
	return append(lines, "")
}

// Summary draws what a scene has measured, nothing if that is not its purpose.
func Summary(s State, width int) []string {
	if len(s.Figures) == 0 {
		return nil
	}
	return append([]string{"", s.Say("What was measured")}, table(s.Figures, width)...)
}

// Closing draws what was learnt and what to read next.
func Closing(s State, width int) []string {
	lines := []string{"", s.Say("What was learnt")}
	for _, text := range s.Words.Learnt {
		lines = append(lines, hanging("  - ", text.In(s.Lang), width)...)
	}
	var files []Row
	for _, r := range s.Words.Read {
		files = append(files, Row{r.File, r.In(s.Lang)})
	}
	lines = append(lines, "", s.Say("Read on"))
	return append(lines, table(files, width)...)
}

// Sentence returns a paragraph.
func Sentence(text string, width int) []string {
	return append([]string{""}, hanging("", text, width)...)
}
