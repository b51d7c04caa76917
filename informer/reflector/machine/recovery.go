package machine

import "orrery/informer/reflector"

// Remedy is what a Reflector does about a failure.
type Remedy int

const (
	// Relist gives the round up: back off, then fetch the whole state again.
	Relist Remedy = iota
	// Resume asks again from the same position, at once.
	Resume
	// Retry backs off and asks again from the same position.
	Retry
	// StartFresh forgets the position, which the server will not accept again: the state is fetched by a
	// consistent read (resourceVersion ""). A failed list or streaming list is repeated at once, a watch after a back-off.
	StartFresh
	// FallBack gives the streaming list up and lists.
	FallBack
	remedyCount
)

var remedyNames = [remedyCount]string{"Relist", "Resume", "Retry", "StartFresh", "FallBack"}

func (r Remedy) String() string { return remedyNames[r] }

// RemedyFor is the one table that says what follows from a failure: the phase it happened in and its cause. The
// transition table refines it with what it knows beyond that: how many attempts were made, how long a watch
// lasted, which page of a list failed.
func RemedyFor(phase reflector.Phase, cause reflector.Cause) Remedy { return remedies[cause][phase] }

// causeCount is how many causes there are.
const causeCount = reflector.CauseUnreachable + 1

// Listing has no Retry and no Resume: to begin again is what Relist means. Phases without an outstanding request
// are Relist, which nobody asks for. An open watch that ends for an unknown reason is resumed: if the reason comes
// again at once, the watch was a very short one, and that leads to a list.
var remedies = [causeCount][phaseCount]Remedy{
	reflector.CauseExpired:         {phaseOpeningStream: StartFresh, phaseStreaming: StartFresh, phaseListing: StartFresh, phaseOpeningWatch: StartFresh, phaseWatching: StartFresh},
	reflector.CauseTooLarge:        {phaseOpeningStream: StartFresh, phaseStreaming: StartFresh, phaseListing: StartFresh, phaseOpeningWatch: StartFresh, phaseWatching: StartFresh},
	reflector.CauseTooManyRequests: {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Retry},
	reflector.CauseUnreachable:     {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Resume},
	reflector.CauseEnded:           {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Resume},
	reflector.CauseRefused:         {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseInternal:        {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseUnknown:         {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Resume},
	reflector.CauseOther:           {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
}
