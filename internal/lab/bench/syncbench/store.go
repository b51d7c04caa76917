package syncbench

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// listVersion is the resource version of the list; all pods have older ones.
const listVersion = "900000000"

// store holds the encoded pods of a server.
type store struct {
	cfg    Config
	digest Digest

	json     []byte // items of a JSON list with the commas after them
	jsonEnds []int  // the end of each item, before its comma

	protobuf     []byte // items of a list, each with its tag
	protobufEnds []int
}

func newStore(cfg Config) *store {
	s := &store{cfg: cfg}
	generator := NewGenerator(cfg)
	for pod, more := generator.Next(); more; pod, more = generator.Next() {
		s.digest.Add(&pod)
		if cfg.Format == Protobuf {
			s.protobuf = appendMessage(s.protobuf, 2, appendProtobuf(nil, &pod))
			s.protobufEnds = append(s.protobufEnds, len(s.protobuf))
			continue
		}
		s.json = append(s.json, headJSON(&pod)...)
		s.jsonEnds = append(s.jsonEnds, len(s.json))
		s.json = append(s.json, ',')
	}
	return s
}

// page is part of the list in one encoding: three slices to be written in order.
type page [3][]byte

func (p page) size() int64 { return int64(len(p[0]) + len(p[1]) + len(p[2])) }

// page returns at most limit items starting at from; a limit of 0 is none.
func (s *store) page(from, limit int) page {
	to := s.cfg.Objects
	if limit > 0 && from+limit < to {
		to = from + limit
	}
	more, remaining := "", s.cfg.Objects-to
	if remaining > 0 {
		more = strconv.Itoa(to)
	}
	if s.cfg.Format == Protobuf {
		return s.pageProtobuf(from, to, more, remaining)
	}
	return s.pageJSON(from, to, more, remaining)
}

func (s *store) pageJSON(from, to int, more string, remaining int) page {
	head := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"` + listVersion + `"`
	if more != "" {
		head += `,"continue":"` + more + `","remainingItemCount":` + strconv.Itoa(remaining)
	}
	head += `},"items":[`
	start := 0
	if from > 0 {
		start = s.jsonEnds[from-1] + 1
	}
	end := start
	if to > from {
		end = s.jsonEnds[to-1]
	}
	return page{[]byte(head), s.json[start:end], []byte("]}\n")}
}

func (s *store) pageProtobuf(from, to int, more string, remaining int) page {
	var meta []byte
	meta = appendString(meta, 1, "")
	meta = appendString(meta, 2, listVersion)
	meta = appendString(meta, 3, more)
	if more != "" {
		meta = protowire.AppendVarint(protowire.AppendTag(meta, 4, protowire.VarintType), uint64(remaining))
	}
	meta = appendMessage(nil, 1, meta)
	start := 0
	if from > 0 {
		start = s.protobufEnds[from-1]
	}
	end := start
	if to > from {
		end = s.protobufEnds[to-1]
	}
	head, tail := envelope("meta.k8s.io/v1", "PartialObjectMetadataList", len(meta)+end-start)
	return page{append(head, meta...), s.protobuf[start:end], tail}
}
