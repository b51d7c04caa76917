package restclient

// Warning is a remark of the server about a request that it answered all the same (HTTP header "Warning" with code 299,
// KEP 1693), or one of this package (Code 0).
type Warning struct {
	Code  int
	Agent string
	Text  string
}

// WarningHandler receives warnings. It may be called from many goroutines at once and must not block.
type WarningHandler func(Warning)
