package resources

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// maxData limits the data of a ConfigMap or Secret, in bytes.
const maxData = 1 << 20

func validateConfigMap(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	data, binary := child(o.Object, "data"), child(o.Object, "binaryData")
	total := 0
	for _, key := range sortedKeys(data) {
		m.names(under("data", key), key, names.DataKey(key))
		if has(binary, key) {
			m.invalid(under("data", key), key, "duplicate of key present in binaryData")
		}
		total += len(text(data, key))
	}
	for _, key := range sortedKeys(binary) {
		m.names(under("binaryData", key), key, names.DataKey(key))
		total += base64Length(text(binary, key))
	}
	if total > maxData {
		m.tooMuchData("[]")
	}
	return m
}

func validateConfigMapUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	var m errorList
	m.sealed(o, old, "data", "binaryData")
	return append(m, validateConfigMap(o)...)
}

const sealed = "field is immutable when `immutable` is set"

// sealed checks that an object marked immutable keeps the given fields and the mark.
func (m *errorList) sealed(o, old *api.Unstructured, fields ...string) {
	if !boolean(old.Object, "immutable") {
		return
	}
	if !boolean(o.Object, "immutable") {
		m.forbidden("immutable", sealed)
	}
	for _, field := range fields {
		if !same(o.Nested(field), old.Nested(field)) {
			m.forbidden(field, sealed)
		}
	}
}

func configMapKeys(o *api.Unstructured, _ time.Time) any {
	return int64(len(child(o.Object, "data")) + len(child(o.Object, "binaryData")))
}

func secretKeys(o *api.Unstructured, _ time.Time) any { return int64(len(child(o.Object, "data"))) }

// fillSecret moves stringData, which is write-only, to data.
func fillSecret(o tree) {
	plain := child(o, "stringData")
	delete(o, "stringData")
	if len(plain) == 0 {
		return
	}
	data := ensure(o, "data")
	for key := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text(plain, key)))
	}
}

func base64Length(encoded string) int {
	return base64.StdEncoding.DecodedLen(len(encoded)) - (len(encoded) - len(strings.TrimRight(encoded, "=")))
}

func (m *errorList) tooMuchData(path string) {
	m.add(apierrors.FieldTooLong, path, nil, fmt.Sprintf("may not be more than %d bytes", maxData))
}

// secretKeysOf are the required keys of each secret type.
var secretKeysOf = map[string][]string{
	"kubernetes.io/dockercfg":        {".dockercfg"},
	"kubernetes.io/dockerconfigjson": {".dockerconfigjson"},
	"kubernetes.io/ssh-auth":         {"ssh-privatekey"},
	"kubernetes.io/tls":              {"tls.crt", "tls.key"},
}

func validateSecret(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
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

// jsonSecret checks that the value of a key is JSON. The error does not show the value.
func (m *errorList) jsonSecret(data tree, key string) {
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
	var m errorList
	m.immutable("type", o.Nested("type"), old.Nested("type"))
	m.sealed(o, old, "data")
	return append(m, validateSecret(o)...)
}
