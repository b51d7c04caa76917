package resources

import (
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
)

// allocator hands out the addresses and ports of services. They start somewhere in their range and come in an order that
// looks like chance, each once until the range is used up; nothing is given back.
type allocator struct {
	addresses, ports atomic.Uint32
}

func newAllocator() *allocator {
	a := &allocator{}
	a.addresses.Store(rand.Uint32())
	a.ports.Store(rand.Uint32())
	return a
}

// The ranges of kube-apiserver's defaults: 10.96.0.0/12 without its first few addresses, which are kept for services that
// every cluster has, and the ports 30000 to 32767.
const (
	firstAddress, addressCount = 10<<24 | 96<<16 | 256, 1<<20 - 257
	firstPort, portCount       = 30000, 2768
)

// address returns the next cluster IP. The stride and the size of the range have no common divisor, so that every address
// comes before one is repeated.
func (a *allocator) address() string {
	n := uint64(a.addresses.Add(1)) * 611_953 % addressCount
	n += firstAddress
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// port returns the next node port.
func (a *allocator) port() int64 {
	return int64(uint64(a.ports.Add(1))*1_021%portCount) + firstPort
}
