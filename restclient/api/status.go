package api

import "strings"

// Status is an API server's answer when it refuses a request, or when there is no other content.
type Status struct {
	TypeMeta `json:",inline"`
	ListMeta `json:"metadata,omitzero"`
	// Status is [StatusSuccess] or [StatusFailure].
	Status  string         `json:"status,omitempty"`
	Message string         `json:"message,omitempty"`
	Reason  StatusReason   `json:"reason,omitempty"`
	Details *StatusDetails `json:"details,omitempty"`
	// Code is the HTTP status code.
	Code int `json:"code,omitempty"`
}

// plainStatus is Status without its methods, for encoding/json.
type plainStatus Status

// UnmarshalJSON decodes a Status and shortens it, see [Status.Shorten].
func (s *Status) UnmarshalJSON(data []byte) error {
	err := Unmarshal(data, (*plainStatus)(s))
	s.Shorten()
	return err
}

// MaxText is the greatest length of a text that a server sends along with a refusal, in bytes.
const MaxText = 2048

// maxCauses is the greatest number of causes of a Status that are kept.
const maxCauses = 32

// CutMark is the end of a text that was cut.
const CutMark = "..."

// CutText returns the text, or its beginning with CutMark if it is longer than MaxText.
func CutText(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:MaxText], "") + CutMark
}

// Shorten cuts every text of a decoded Status to MaxText bytes. Each of them may travel on into a
// log, an Event or the condition of a namespace, where a megabyte would displace everything else.
func (s *Status) Shorten() {
	s.Status, s.Message, s.Reason = CutText(s.Status), CutText(s.Message), StatusReason(CutText(string(s.Reason)))
	if s.Details == nil {
		return
	}
	d := s.Details
	d.Name, d.Group, d.Kind, d.UID = CutText(d.Name), CutText(d.Group), CutText(d.Kind), CutText(d.UID)
	d.Causes = d.Causes[:min(len(d.Causes), maxCauses):min(len(d.Causes), maxCauses)]
	for i, cause := range d.Causes {
		d.Causes[i] = StatusCause{CauseType(CutText(string(cause.Type))), CutText(cause.Message), CutText(cause.Field)}
	}
}

// The two outcomes that a Status can report.
const (
	StatusSuccess = "Success"
	StatusFailure = "Failure"
)

// StatusDetails identifies the object of a refusal, with details.
type StatusDetails struct {
	Name              string        `json:"name,omitempty"`
	Group             string        `json:"group,omitempty"`
	Kind              string        `json:"kind,omitempty"`
	UID               string        `json:"uid,omitempty"`
	Causes            []StatusCause `json:"causes,omitempty"`
	RetryAfterSeconds int           `json:"retryAfterSeconds,omitempty"`
}

// StatusCause is one of the reasons for a refusal.
type StatusCause struct {
	Type    CauseType `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Field   string    `json:"field,omitempty"`
}

// StatusReason is the machine-readable reason of a refusal.
type StatusReason string

// The reasons that API servers give.
const (
	ReasonUnknown               StatusReason = ""
	ReasonBadRequest            StatusReason = "BadRequest"
	ReasonUnauthorized          StatusReason = "Unauthorized"
	ReasonForbidden             StatusReason = "Forbidden"
	ReasonNotFound              StatusReason = "NotFound"
	ReasonMethodNotAllowed      StatusReason = "MethodNotAllowed"
	ReasonNotAcceptable         StatusReason = "NotAcceptable"
	ReasonAlreadyExists         StatusReason = "AlreadyExists"
	ReasonConflict              StatusReason = "Conflict"
	ReasonGone                  StatusReason = "Gone"
	ReasonExpired               StatusReason = "Expired"
	ReasonRequestEntityTooLarge StatusReason = "RequestEntityTooLarge"
	ReasonUnsupportedMediaType  StatusReason = "UnsupportedMediaType"
	ReasonInvalid               StatusReason = "Invalid"
	ReasonTooManyRequests       StatusReason = "TooManyRequests"
	ReasonInternalError         StatusReason = "InternalError"
	ReasonServiceUnavailable    StatusReason = "ServiceUnavailable"
	ReasonServerTimeout         StatusReason = "ServerTimeout"
	ReasonTimeout               StatusReason = "Timeout"
	ReasonStoreReadError        StatusReason = "StorageReadError"
)

// CauseType is the machine-readable kind of a cause.
type CauseType string

// The causes that this project uses.
const (
	// CauseNamespaceTerminating: nothing can be created in a namespace that is being deleted.
	CauseNamespaceTerminating CauseType = "NamespaceTerminating"
	// CauseResourceVersionTooLarge: the server has not reached the requested version yet.
	CauseResourceVersionTooLarge CauseType = "ResourceVersionTooLarge"
	// CauseUnexpectedServerResponse carries the text of an answer that was not a Status.
	CauseUnexpectedServerResponse CauseType = "UnexpectedServerResponse"
)
