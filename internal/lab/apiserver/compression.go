package apiserver

import (
	"compress/gzip"
	"errors"
	"net/http"
	"strings"
	"sync"
)

// compressFrom is the length from which an answer is worth compressing; below, the time is better spent on sending.
const compressFrom = 128 << 10

// compressors are kept, because one weighs a megabyte.
var compressors = sync.Pool{New: func() any {
	compressor, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails for levels that do not exist
	return compressor
}}

// compresses tells whether an answer of this length goes out compressed: to a GET, and if the client takes gzip.
func (x *exchange) compresses(code, length int) bool {
	return code == http.StatusOK && length >= compressFrom && x.r.Method == http.MethodGet && acceptsGzip(x.r.Header)
}

// sampleSize is how much of an answer is looked at to find out whether it can be compressed.
const sampleSize = 16 << 10

// shrinks tells whether a sample of an answer gets half as long, at least. Less is not worth it: what a slow network gains by it is
// little, and a fast one, as that to a server on the same machine, loses seconds on a list of a hundred thousand certificates or
// other noise. kube-apiserver does not ask, and compresses everything.
func shrinks(sample []byte) bool {
	sample = sample[:min(len(sample), sampleSize)]
	var length counter
	compressor := compressors.Get().(*gzip.Writer)
	compressor.Reset(&length)
	compressor.Write(sample)
	compressed{compressor}.Close()
	return int(length) <= len(sample)/2
}

// sampled keeps the beginning of what is written to it, and then wants no more.
type sampled struct{ data []byte }

func (s *sampled) Write(data []byte) (int, error) {
	s.data = append(s.data, data...)
	if len(s.data) >= sampleSize {
		return len(data), errEnough
	}
	return len(data), nil
}

var errEnough = errors.New("the sample is complete")

func acceptsGzip(header http.Header) bool {
	for _, line := range header.Values("Accept-Encoding") {
		for word := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(word, ";")
			if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(params, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}

// compressed is the body of an answer under compression.
type compressed struct{ *gzip.Writer }

// Close ends the body.
func (c compressed) Close() error {
	err := c.Writer.Close()
	c.Reset(nil)
	compressors.Put(c.Writer)
	return err
}

// startCompressed sends the head of a compressed answer. The caller closes the body.
func (x *exchange) startCompressed(code int) compressed {
	x.w.Header().Set("Content-Encoding", "gzip")
	x.w.Header().Add("Vary", "Accept-Encoding")
	x.w.Header().Del("Content-Length")
	x.w.WriteHeader(code)
	compressor := compressors.Get().(*gzip.Writer)
	compressor.Reset(x.w)
	return compressed{compressor}
}
