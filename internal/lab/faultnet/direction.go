package faultnet

// Direction is one of the two that bytes take over a connection, seen from the side that holds the wrapped end.
type Direction int

const (
	Sent     Direction = iota // what is written
	Received                  // what is read
)

func (d Direction) String() string {
	if d == Sent {
		return "sent"
	}
	return "received"
}
