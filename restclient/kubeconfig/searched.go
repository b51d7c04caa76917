package kubeconfig

import (
	"crypto/sha256"
	"fmt"
	"os"
)

// searched are the files that were looked for, whether or not they exist.
type searched struct {
	paths []string
	// sum is that of the files before they were read: what is written while they are being read makes another one. Only
	// with Options.Changed.
	sum [sha256.Size]byte
}

func (opts *Options) search(paths []string) searched {
	s := searched{paths: paths}
	if opts.Changed != nil {
		s.sum = sumOfFiles(paths)
	}
	return s
}

// sumOfFiles is different when the files are. Those that cannot be read count as empty.
func sumOfFiles(paths []string) [sha256.Size]byte {
	h := sha256.New()
	for _, path := range paths {
		data, _ := os.ReadFile(path)
		fmt.Fprintf(h, "%d\n", len(data))
		h.Write(data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
