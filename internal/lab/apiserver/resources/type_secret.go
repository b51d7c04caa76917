package resources

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// secrets are data that fewer people should see.
func secrets() *Definition {
	return &Definition{
		Plural: "secrets",
		Columns: []Column{
			nameColumn(),
			{Name: "Type", Type: "string", Description: "What the data is for.", Cell: field("type")},
			{Name: "Data", Type: "string", Description: "How many keys there are.", Cell: secretKeys},
			ageColumn(),
		},
		Selectable: []string{"type"},
		Fields:     func(o *api.Unstructured) map[string]string { return map[string]string{"type": text(o.Object, "type")} },
		Strategy: Strategy{
			UpdateMeta:               CheckStepThenAll,
			Default:                  defaultSecret,
			Validate:                 validateSecret,
			ValidateUpdate:           validateSecretUpdate,
			AllowUnconditionalUpdate: true,
		},
	}
}

// defaultSecret makes data of stringData, which is for writing only.
func defaultSecret(o *api.Unstructured) {
	fillText(o.Object, "type", "Opaque")
	plain := child(o.Object, "stringData")
	delete(o.Object, "stringData")
	if len(plain) == 0 {
		return
	}
	data := made(o.Object, "data")
	for key := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text(plain, key)))
	}
}

func base64Length(encoded string) int {
	return base64.StdEncoding.DecodedLen(len(encoded)) - (len(encoded) - len(strings.TrimRight(encoded, "=")))
}

func (m *mistakes) tooMuchData(path string) {
	m.add(apierrors.FieldTooLong, path, nil, fmt.Sprintf("may not be more than %d bytes", maxData))
}

// secretKeysOf are the keys that a secret of a type must have.
var secretKeysOf = map[string][]string{
	"kubernetes.io/dockercfg":        {".dockercfg"},
	"kubernetes.io/dockerconfigjson": {".dockerconfigjson"},
	"kubernetes.io/ssh-auth":         {"ssh-privatekey"},
	"kubernetes.io/tls":              {"tls.crt", "tls.key"},
}

func validateSecret(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	data := child(o.Object, "data")
	total := 0
	for _, key := range sortedKeys(data) {
		m.names(under("data", key), key, names.DataKey(key))
		total += base64Length(text(data, key))
	}
	if total > maxData {
		m.tooMuchData("data")
	}
	kind := text(o.Object, "type")
	for _, key := range secretKeysOf[kind] {
		if !has(data, key) {
			m.required(under("data", key), "")
		}
	}
	switch kind {
	case "kubernetes.io/service-account-token":
		const annotation = "kubernetes.io/service-account.name"
		if o.GetAnnotations()[annotation] == "" {
			m.required(under("metadata.annotations", annotation), "")
		}
	case "kubernetes.io/basic-auth":
		if !has(data, "username") && !has(data, "password") {
			m.required(under("data", "username"), "")
			m.required(under("data", "password"), "")
		}
	case "kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson":
		m.jsonSecret(data, secretKeysOf[kind][0])
	}
	return m
}

// jsonSecret wants the value of a key to be JSON. The sentence does not show it.
func (m *mistakes) jsonSecret(data tree, key string) {
	if !has(data, key) {
		return
	}
	content, err := base64.StdEncoding.DecodeString(text(data, key))
	if err == nil {
		err = json.Unmarshal(content, &map[string]any{})
	}
	if err != nil {
		m.invalid(under("data", key), "<secret contents redacted>", err.Error())
	}
}

func validateSecretUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	m.immutable("type", o.Nested("type"), old.Nested("type"))
	m.sealed(o, old, "data")
	return append(m, validateSecret(o)...)
}
