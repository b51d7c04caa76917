package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// maxData is the limit of the data of a config map or secret, in bytes.
const maxData = 1 << 20

// configMaps are text for programs.
func configMaps() *Definition {
	return &Definition{
		Plural:  "configmaps",
		Columns: []Column{nameColumn(), {Name: "Data", Type: "string", Description: "How many keys there are.", Cell: configMapKeys}, ageColumn()},
		Strategy: Strategy{
			UpdateMeta:               CheckStepThenAll,
			Validate:                 validateConfigMap,
			ValidateUpdate:           validateConfigMapUpdate,
			AllowUnconditionalUpdate: true,
		},
	}
}

func validateConfigMap(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
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
	var m mistakes
	m.sealed(o, old, "data", "binaryData")
	return append(m, validateConfigMap(o)...)
}

const sealed = "field is immutable when `immutable` is set"

// sealed wants the fields of an object that is marked immutable to stay, and the mark too.
func (m *mistakes) sealed(o, old *api.Unstructured, fields ...string) {
	if !truth(old.Object, "immutable") {
		return
	}
	if !truth(o.Object, "immutable") {
		m.forbidden("immutable", sealed)
	}
	for _, field := range fields {
		if !same(o.Nested(field), old.Nested(field)) {
			m.forbidden(field, sealed)
		}
	}
}
