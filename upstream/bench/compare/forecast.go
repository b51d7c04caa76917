package compare

import "time"

// forecast guesses how long a comparison still takes: the turns to come as long as they usually take, times what the
// turns that are over have taken in place of their usual time.
type forecast struct {
	turns   map[contestTurn]time.Duration // how long one turn usually takes
	waiting map[contestTurn]int           // how many turns are still to come
	spent   time.Duration                 // of the turns that are over
	meant   time.Duration                 // what they usually take
}

type contestTurn struct {
	contest string
	entrant entrant
}

func newForecast(all []contest, config Config) *forecast {
	f := &forecast{turns: make(map[contestTurn]time.Duration), waiting: make(map[contestTurn]int)}
	for _, c := range all {
		for _, e := range c.entrants {
			turn := contestTurn{c.name, e}
			f.turns[turn] = usual(e, config.Effort)
			f.waiting[turn] = config.Rounds
		}
	}
	return f
}

// took notes how long a turn has taken.
func (f *forecast) took(c contest, e entrant, elapsed time.Duration) {
	turn := contestTurn{c.name, e}
	f.spent += elapsed
	f.meant += f.turns[turn]
	f.waiting[turn]--
}

// finish forgets the turns that a scenario has not had: it failed.
func (f *forecast) finish(c contest) {
	for _, e := range c.entrants {
		delete(f.waiting, contestTurn{c.name, e})
	}
}

// left returns the guess.
func (f *forecast) left() time.Duration {
	var sum time.Duration
	for turn, n := range f.waiting {
		sum += time.Duration(n) * f.turns[turn]
	}
	if f.meant < 5*time.Second {
		return sum
	}
	return time.Duration(float64(sum) * float64(f.spent) / float64(f.meant))
}
