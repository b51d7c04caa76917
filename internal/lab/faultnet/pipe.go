package faultnet

import (
	"net"

	"orrery/restclient/restclienttest"
)

// Pipe returns the two ends of a connection in memory. It has a buffer, deadlines and the closing rules of a TCP connection,
// and waits in a way that a testing/synctest bubble understands.
func Pipe() (client, server net.Conn) { return restclienttest.Pipe() }
