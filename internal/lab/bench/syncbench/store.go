package syncbench

import "strconv"

// listVersion is the resource version of the list; all pods have older ones.
const listVersion = "900000000"

// store holds the encoded pods of a server.
type store struct {
	cfg    Config
	digest Digest

	items []byte // items of a JSON list with the commas after them
	ends  []int  // the end of each item, before its comma
}

func newStore(cfg Config) *store {
	s := &store{cfg: cfg}
	generator := NewGenerator(cfg)
	for pod, more := generator.Next(); more; pod, more = generator.Next() {
		s.digest.Add(&pod)
		s.items = append(s.items, headJSON(&pod)...)
		s.ends = append(s.ends, len(s.items))
		s.items = append(s.items, ',')
	}
	return s
}

// page is part of the list: three slices to be written in order.
type page [3][]byte

func (p page) size() int64 { return int64(len(p[0]) + len(p[1]) + len(p[2])) }

// page returns at most limit items starting at from; a limit of 0 is none.
func (s *store) page(from, limit int) page {
	to := s.cfg.Objects
	if limit > 0 && from+limit < to {
		to = from + limit
	}
	head := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"` + listVersion + `"`
	if remaining := s.cfg.Objects - to; remaining > 0 {
		head += `,"continue":"` + strconv.Itoa(to) + `","remainingItemCount":` + strconv.Itoa(remaining)
	}
	head += `},"items":[`
	start := 0
	if from > 0 {
		start = s.ends[from-1] + 1
	}
	end := start
	if to > from {
		end = s.ends[to-1]
	}
	return page{[]byte(head), s.items[start:end], []byte("]}\n")}
}
