package chaos

import "context"

// zombieName is the replica whose watch becomes a zombie.
const zombieName = "orrery-3"

// startZombie begins the run with the dead connection, and returns what waits for its end.
func (r *run) startZombie(context.Context) func() []string { return func() []string { return nil } }
