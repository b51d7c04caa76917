package causes

// Together sets up several situations in one namespace, and returns when each has settled.
func Together(w *World, fixtures ...Fixture) {
	together(w, func(part *World, f Fixture) { part.sleep(f.settle()) }, fixtures)
}
