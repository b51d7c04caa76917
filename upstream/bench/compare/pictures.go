package compare

import (
	"math"
	"slices"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/plot"
)

// pictures draws every picture of the page.
func (p *page) pictures() map[string][]byte {
	files := map[string][]byte{"benchmarks/ratios.svg": p.ratios().SVG()}
	for _, c := range p.Chapters {
		if name := c.Picture(); name != "" {
			files["benchmarks/"+name] = c.bars().SVG()
		}
	}
	return files
}

// ratios shows how many times better each ratio with a target is, so that better is to the right.
func (p *page) ratios() plot.Bars {
	b := plot.Bars{
		Title:   "How many times better than client-go",
		Caption: "Medians, whiskers from the worst round to the best. To the right of 1 is better than client-go. Less time, less memory and more work in a second are all better. The mark is the target.",
		Axis:    plot.Axis{Title: "times better", Unit: "×", Scale: plot.Log10},
		From:    1,
	}
	for _, r := range p.Targets {
		if r.TargetKind != Ratio || r.Ratio <= 0 || r.Low <= 0 {
			continue
		}
		m, _ := p.measure(r.Name)
		value := plot.Value{At: r.Ratio, Low: r.Low, High: r.High}
		target := r.Target
		if r.Better == bench.Lower {
			value = plot.Value{At: 1 / r.Ratio, Low: 1 / r.High, High: 1 / r.Low}
			target = 1 / r.Target
		}
		value.Label = times(value.At) + "×"
		b.Groups = append(b.Groups, plot.Group{Name: m.Title, Values: []plot.Value{value}, Target: target})
	}
	return b
}

// chapterPictures lists the figures of each chapter's picture, in one unit.
var chapterPictures = map[string]struct {
	title string
	unit  string // of package bench
	names []string
}{
	"queue":    {"Time of an operation on the queue", bench.Nanoseconds, []string{"queue/cycle ns/op", "queue/cycle-metrics ns/op", "queue/add-after ns/op", "queue/add-rate-limited ns/op"}},
	"fifo":     {"Time in the FIFO", bench.Nanoseconds, []string{"fifo/add-pop ns/op", "fifo/relist ms", "fifo/relist lock-ms"}},
	"store":    {"Time of an operation on the store", bench.Nanoseconds, []string{"store/update ns/op", "store/by-index ns/op"}},
	"dispatch": {"Time from the watch to all handlers", bench.Nanoseconds, []string{"dispatch/1 ns/event", "dispatch/4 ns/event", "dispatch/16 ns/event", "dispatch/idle p50", "dispatch/idle p99"}},
	"sync":     {"The first sync of 100,000 pods", bench.Seconds, []string{"sync/json cpu s", "sync/json wall s"}},
	"deletion": {"Time to delete namespaces", bench.Seconds, []string{"deletion/hundred s", "deletion/empty ms"}},
}

// Picture returns the file name of the chapter's picture.
func (c pageChapter) Picture() string {
	if _, ok := chapterPictures[c.Name]; !ok {
		return ""
	}
	return c.Name + ".svg"
}

// PictureTitle returns its description.
func (c pageChapter) PictureTitle() string { return chapterPictures[c.Name].title }

// bars shows the figures of the sides beside each other.
func (c pageChapter) bars() plot.Bars {
	picture := chapterPictures[c.Name]
	b := plot.Bars{
		Title:  picture.title,
		Axis:   plot.Axis{Unit: picture.unit},
		Series: []string{string(Ours), string(Theirs), string(Textbook)},
	}
	third := c.third()
	if third != "" {
		b.Series = append(b.Series, string(third))
	}
	for _, name := range picture.names {
		r, ok := c.page.record(name)
		if !ok {
			continue
		}
		m, _ := c.page.measure(name)
		group := plot.Group{Name: m.Title, Values: []plot.Value{
			{At: scaled(r.Ours, r.Unit, picture.unit)}, {At: scaled(r.Theirs, r.Unit, picture.unit)},
		}}
		if r.Textbook != nil {
			group.Values = append(group.Values, plot.Value{At: scaled(r.Textbook.Figure, r.Unit, picture.unit)})
		}
		if other, ok := c.page.record(name + " against " + string(third)); ok {
			group.Values = append(group.Values, plot.Value{At: scaled(other.Theirs, other.Unit, picture.unit)})
		}
		b.Groups = append(b.Groups, group)
	}
	return fitted(b)
}

// fitted chooses a logarithmic axis if the values differ more than thirtyfold.
func fitted(b plot.Bars) plot.Bars {
	least, most := math.Inf(1), 0.0
	for _, group := range b.Groups {
		for _, value := range group.Values {
			least, most = min(least, value.At), max(most, value.At)
		}
	}
	b.Caption = "Medians of the rounds; less is better."
	if most > 30*least {
		b.Axis.Scale = plot.Log10
		b.Caption += " The axis is logarithmic."
	}
	return b
}

// third returns the chapter's third side, if any.
func (c pageChapter) third() Side {
	for _, r := range c.page.Extras {
		m, _ := c.page.measure(r.Name)
		if m.isOf(c.Name) && !slices.Contains([]Side{Theirs, ""}, m.Against) {
			return m.Against
		}
	}
	return ""
}

// scaled converts between units of time.
func scaled(value float64, unit, into string) float64 {
	seconds := map[string]float64{"ns": 1e-9, "ns/op": 1e-9, "ns/event": 1e-9, "ms": 1e-3, "s": 1}
	if into == bench.Seconds {
		return value * seconds[unit]
	}
	return value * seconds[unit] * 1e9
}
