package apiserver

import (
	"compress/gzip"
	"errors"
	"net/http"
	"strings"
	"sync"
)

// compressFrom is the length from which answers are compressed, as in kube-apiserver.
const compressFrom = 128 << 10

// compressors are reused because one takes a megabyte.
var compressors = sync.Pool{New: func() any {
	compressor, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for invalid levels
	return compressor
}}

// compresses reports whether an answer of this length may be compressed: for a GET, if the client
// accepts gzip.
func (x *exchange) compresses(code, length int) bool {
	return code == http.StatusOK && length >= compressFrom && x.r.Method == http.MethodGet && acceptsGzip(x.r.Header)
}

// sampleSize is how much of an answer is compressed to estimate the ratio.
const sampleSize = 16 << 10

// shrinks reports whether a sample of an answer becomes at most half as long. Otherwise compression
// gains little on a slow network and costs seconds on a fast one, for example for a list of a
// hundred thousand certificates. kube-apiserver compresses everything.
func shrinks(sample []byte) bool {
	sample = sample[:min(len(sample), sampleSize)]
	var length counter
	compressor := compressors.Get().(*gzip.Writer)
	compressor.Reset(&length)
	compressor.Write(sample)
	compressed{compressor}.Close()
	return int(length) <= len(sample)/2
}

// sampled keeps the first sampleSize bytes written to it and then returns errEnough.
type sampled struct{ data []byte }

func (s *sampled) Write(data []byte) (int, error) {
	s.data = append(s.data, data...)
	if len(s.data) >= sampleSize {
		return len(data), errEnough
	}
	return len(data), nil
}

var errEnough = errors.New("sample is complete")

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

// compressed is the body of a compressed answer.
type compressed struct{ *gzip.Writer }

// Close ends the body and releases the compressor.
func (c compressed) Close() error {
	err := c.Writer.Close()
	c.Reset(nil)
	compressors.Put(c.Writer)
	return err
}

// startCompressed sends the header of a compressed answer. The caller must close the body.
func (x *exchange) startCompressed(code int) compressed {
	x.w.Header().Set("Content-Encoding", "gzip")
	x.w.Header().Add("Vary", "Accept-Encoding")
	x.w.Header().Del("Content-Length")
	x.w.WriteHeader(code)
	compressor := compressors.Get().(*gzip.Writer)
	compressor.Reset(x.w)
	return compressed{compressor}
}
