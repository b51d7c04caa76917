package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"orrery/internal/lab/apiserver/protobuf"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// incoming is a document that a client has sent, as JSON whatever form it came in.
type incoming struct {
	kind, apiVersion string // "" if it does not say
	data             []byte
	// duplicates has a sentence for each key that comes twice. The last one counts.
	duplicates []string
}

// read turns a body into a document. Errors have the words of the original.
func (e encoding) read(body []byte) (incoming, error) {
	doc := incoming{data: body}
	switch e {
	case inYAML:
		var err error
		if doc.data, doc.duplicates, err = fromYAML(body); err != nil {
			return incoming{}, err
		}
	case inProtobuf:
		object, err := protobuf.Decode(body)
		if _, unknown := errors.AsType[*protobuf.KindError](err); err != nil && !unknown {
			return incoming{}, err
		}
		// A kind that is not known has no tree; what it says it is does for the refusal.
		if doc.data, err = json.Marshal(object.Tree); err != nil {
			return incoming{}, err
		}
		doc.kind, doc.apiVersion = object.Kind, object.APIVersion
		return doc, nil
	}
	if err := doc.readKind(); err != nil {
		return incoming{}, err
	}
	if e == inJSON {
		doc.duplicates = schema.Duplicates(body)
	}
	return doc, nil
}

// readKind reads what the document says it is. The anonymous struct is part of the words with which it is refused.
func (doc *incoming) readKind() error {
	var head struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(doc.data, &head); err != nil {
		return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	if _, err := api.ParseGroupVersion(head.APIVersion); err != nil {
		return err
	}
	doc.kind, doc.apiVersion = head.Kind, head.APIVersion
	return nil
}

// longestQuote is how much of a document without a kind is quoted.
const longestQuote = 4 << 10

// missingKind complains of a document that does not say what it is. Types that were compiled into the original need not say it.
func (doc *incoming) missingKind() error {
	missing := "Kind"
	if doc.kind != "" {
		missing = "apiVersion"
	}
	if doc.kind != "" && doc.apiVersion != "" {
		return nil
	}
	quoted := doc.data
	if len(quoted) > longestQuote {
		quoted = append(bytes.Clone(quoted[:longestQuote]), " ..."...)
	}
	return &missingError{field: missing, document: quoted}
}

// missingError says that a document does not say what it is.
type missingError struct {
	field    string
	document []byte
}

func (e *missingError) Error() string {
	return fmt.Sprintf("Object '%s' is missing in '%s'", e.field, e.document)
}

// tree returns the document as a tree; null is an empty one.
func (doc *incoming) tree() (*api.Unstructured, error) {
	object := &api.Unstructured{}
	if err := json.Unmarshal(doc.data, object); err != nil {
		return nil, err
	}
	if object.Object == nil {
		object.Object = map[string]any{}
	}
	return object, nil
}
