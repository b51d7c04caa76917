package apps

import (
	"slices"
	"time"

	"orrery/restclient/api"
)

// Condition is a condition of an object's status. Only deployments have LastUpdateTime.
type Condition struct {
	Type               string              `json:"type"`
	Status             api.ConditionStatus `json:"status"`
	LastUpdateTime     api.Time            `json:"lastUpdateTime,omitzero"`
	LastTransitionTime api.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string              `json:"reason,omitempty"`
	Message            string              `json:"message,omitempty"`
}

// FindCondition returns the condition of that type, or nil.
func FindCondition(conditions []Condition, kind string) *Condition {
	at := slices.IndexFunc(conditions, func(c Condition) bool { return c.Type == kind })
	if at < 0 {
		return nil
	}
	return &conditions[at]
}

// WithoutCondition returns the conditions except the one of a type.
func WithoutCondition(conditions []Condition, kind string) []Condition {
	var others []Condition
	for _, condition := range conditions {
		if condition.Type != kind {
			others = append(others, condition)
		}
	}
	return others
}

// NewCondition returns a new condition with the present time.
func NewCondition(kind string, status api.ConditionStatus, reason, message string) Condition {
	now := api.NewTime(time.Now())
	return Condition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now}
}

// WithCondition returns the conditions with a new one that replaces the one of its type. If the old
// one has the same status and reason it stays, so that a report without news changes nothing.
func WithCondition(conditions []Condition, condition Condition) []Condition {
	known := FindCondition(conditions, condition.Type)
	if known != nil && known.Status == condition.Status && known.Reason == condition.Reason {
		return conditions
	}
	return WithRenewedCondition(conditions, condition)
}

// WithRenewedCondition is [WithCondition] that replaces the old condition even if status and reason
// are the same.
func WithRenewedCondition(conditions []Condition, condition Condition) []Condition {
	if known := FindCondition(conditions, condition.Type); known != nil && known.Status == condition.Status {
		condition.LastTransitionTime = known.LastTransitionTime
	}
	return append(WithoutCondition(conditions, condition.Type), condition)
}
