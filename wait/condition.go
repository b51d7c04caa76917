package wait

import "context"

// ConditionFunc reports whether what was waited for has come. An error ends
// the waiting and is returned from it as it is.
type ConditionFunc func() (done bool, err error)

// ConditionWithContextFunc is a [ConditionFunc] that receives the context of
// the wait.
type ConditionWithContextFunc func(ctx context.Context) (done bool, err error)

// WithContext turns cf into a condition that ignores the context.
func (cf ConditionFunc) WithContext() ConditionWithContextFunc {
	return func(context.Context) (bool, error) { return cf() }
}

// check asks the condition once. A panic goes to HandleCrash; if that returns
// (crashing is turned off) the answer is the zero one: not done, no error.
func check(ctx context.Context, condition ConditionWithContextFunc) (done bool, err error) {
	defer HandleCrashWithContext(ctx)
	done, err = condition(ctx)
	// An error outranks done, so that no caller can see both.
	return done && err == nil, err
}
