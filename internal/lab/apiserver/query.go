package apiserver

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// flag parses a boolean like kube-apiserver: absent, "false" and "0" are false, everything else is
// true.
func flag(query url.Values, name string) bool {
	values, given := query[name]
	if !given || len(values) == 0 {
		return false
	}
	return values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// number parses an integer; it returns nil if absent.
func number(query url.Values, name string) (*int64, error) {
	values, given := query[name]
	if !given || len(values) == 0 {
		return nil, nil
	}
	value, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil {
		return nil, resources.BadRequest(err.Error())
	}
	return &value, nil
}

// listOptions parses the query of a list, watch or deletecollection.
func listOptions(query url.Values) (api.ListOptions, error) {
	o := api.ListOptions{
		LabelSelector: query.Get("labelSelector"), FieldSelector: query.Get("fieldSelector"),
		ResourceVersion:      query.Get("resourceVersion"),
		ResourceVersionMatch: api.ResourceVersionMatch(query.Get("resourceVersionMatch")),
		Continue:             query.Get("continue"),
		AllowWatchBookmarks:  flag(query, "allowWatchBookmarks"),
		SendInitialEvents:    flag(query, "sendInitialEvents"),
	}
	for name, field := range map[string]*int64{"limit": &o.Limit, "timeoutSeconds": &o.TimeoutSeconds} {
		value, err := number(query, name)
		if err != nil {
			return api.ListOptions{}, err
		}
		if value != nil {
			*field = *value
		}
	}
	return o, nil
}

// fieldValidation says how to handle unknown fields.
type fieldValidation string

const (
	ignoreFields fieldValidation = "Ignore"
	warnOfFields fieldValidation = "Warn"
	strictFields fieldValidation = "Strict"
)

// writeParameters are the query parameters of create, update and patch.
type writeParameters struct {
	dryRun     bool
	validation fieldValidation
	manager    string
}

// maxManager limits the length of a field manager's name.
const maxManager = 128

// writeOptions parses the query of a write. kind names the options in errors, for example
// "CreateOptions".
func writeOptions(query url.Values, kind string) (writeParameters, error) {
	p := writeParameters{
		validation: fieldValidation(query.Get("fieldValidation")), manager: query.Get("fieldManager"),
	}
	var wrong resources.Errors
	p.dryRun = dryRun(query["dryRun"], &wrong)
	if len(p.manager) > maxManager {
		wrong.Add(resources.FieldTooLong, "fieldManager", p.manager, "may not be more than 128 bytes")
	}
	switch p.validation {
	case "":
		p.validation = warnOfFields
	case ignoreFields, warnOfFields, strictFields:
	default:
		wrong.Add(resources.FieldNotSupported, "fieldValidation", string(p.validation),
			`supported values: "", "Ignore", "Strict", "Warn"`)
	}
	if len(wrong) > 0 {
		return writeParameters{}, resources.Invalid("meta.k8s.io", kind, "", wrong)
	}
	return p, nil
}

// dryRun parses the dryRun parameters, whose only value is "All".
func dryRun(values []string, wrong *resources.Errors) bool {
	if slices.ContainsFunc(values, func(value string) bool { return value != "All" }) {
		wrong.Add(resources.FieldNotSupported, "dryRun", values, `supported values: "All"`)
	}
	return len(values) > 0
}
