package virtualmachine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// executioner stands between a controller and its surroundings and counts the calls. After the
// last permitted call the controller is dead: it does not receive the result of that call, and
// its later calls have no effect.
type executioner struct {
	mu      sync.Mutex // guards the fields below
	allowed int        // negative: all
	calls   []string
}

var errKilled = errors.New("the controller was killed")

// call makes a call while the controller is alive.
func (e *executioner) call(name string, do func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.calls) == e.allowed {
		return errKilled
	}
	err := do()
	e.calls = append(e.calls, name)
	if len(e.calls) == e.allowed {
		return errKilled
	}
	return err
}

func (e *executioner) killed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.calls) == e.allowed
}

// write makes a write while the controller is alive.
func (e *executioner) write(call string, vm *machine, do write) (stored *machine, err error) {
	if call == "UpdateStatus" {
		call += " " + string(vm.Status.Phase)
	}
	err = e.call(call, func() error { stored, err = do(); return err })
	return stored, err
}

// life is the script of the tests: a machine is created, changed and deleted. The first
// controller is killed after some calls.
type life struct {
	*world
	allowed int
	deleted bool // the object is deleted before the next controller starts
	guard   *executioner
	process *process
	wrong   []string
}

// begin starts a controller that may make that many calls.
func (l *life) begin(allowed int) {
	l.process = l.start(func(config *virtualmachine.Config) {
		l.guard = &executioner{allowed: allowed}
		config.Client = writes{config.Client, l.guard.write}
		config.Driver = driver.Around(config.Driver,
			func(ctx context.Context, name, _ string, call func(context.Context) error) error {
				return l.guard.call(name, func() error { return call(ctx) })
			})
	})
}

// expect lets time pass, replaces the controller if it was killed, and checks the state.
func (l *life) expect(memory int64) {
	time.Sleep(period + time.Second)
	if l.guard.killed() {
		l.process.kill()
		l.process.ended()
		if l.deleted && l.get("test-vm") != nil {
			l.delete("test-vm")
			memory = 0
		}
		l.begin(-1)
		time.Sleep(2 * time.Minute)
	}
	phase, sizes := l.phase("test-vm"), []int64(nil)
	for _, request := range l.driver.Servers() {
		sizes = append(sizes, request.Memory)
	}
	if memory == 0 && (phase != "gone" || len(sizes) > 0) ||
		memory > 0 && (phase != "Active" || !slices.Equal(sizes, []int64{memory})) {
		l.wrong = append(l.wrong, fmt.Sprintf("the object is %s, and there are servers of these sizes: %v",
			phase, sizes))
	}
}

// play runs the script to its end.
func (l *life) play() {
	l.begin(l.allowed)
	l.create("test-vm")
	l.expect(4_000_000_000)
	if vm := l.get("test-vm"); vm != nil {
		vm.Spec.Resource.Memory = `"8G"`
		_, err := l.user.Update(l.t.Context(), vm, api.UpdateOptions{})
		if api.IsConflict(err) { // a controller that was started a period ago has written its usage at this moment
			synctest.Wait()
			vm = l.get("test-vm")
			vm.Spec.Resource.Memory = `"8G"`
			_, err = l.user.Update(l.t.Context(), vm, api.UpdateOptions{})
		}
		require.NoError(l.t, err)
		l.expect(8_000_000_000)
	}
	if l.get("test-vm") != nil {
		l.delete("test-vm")
		l.expect(0)
	}
}

// playKilled runs the script with a controller that is killed after one call, after two, and so
// on. It returns the calls of a run without a kill, and what was wrong, by the number of calls
// and the action in the meantime.
func playKilled(t *testing.T, text string) (calls []string, wrong map[string][]string) {
	set, err := gears.Parse(text)
	require.NoError(t, err)
	one := func(allowed int, deleted bool) (l *life) {
		synctest.Test(t, func(t *testing.T) {
			l = &life{world: newWorld(t, set), allowed: allowed, deleted: deleted}
			l.play()
		})
		return l
	}
	whole := one(-1, false)
	calls, wrong = whole.guard.calls, map[string][]string{}
	assert.Empty(t, whole.wrong, "no process was killed")
	for i := 0; i < len(calls); i += clustertest.KillStep() {
		for _, deleted := range []bool{false, true} {
			if problems := one(i+1, deleted).wrong; len(problems) > 0 {
				wrong[fmt.Sprintf("after %s, deleted: %t", strings.Join(calls[:i+1], ", "), deleted)] = problems
			}
		}
	}
	return calls, wrong
}

// Wherever the controller is killed, the next one finishes: no machine is left without an object,
// and no object hangs.
func TestAControllerThatIsKilledLeavesNoZombie(t *testing.T) {
	for _, text := range []string{"textbook", "fast"} {
		t.Run(text, func(t *testing.T) {
			calls, wrong := playKilled(t, text)
			assert.Empty(t, wrong,
				"the controller was killed after the call that is named last, and the next controller has to "+
					"finish its work")
			for _, name := range []string{"Update", "UpdateStatus Pending", "IsServerExist", "CreateServer",
				"UpdateStatus Active",
				"GetServerStatus", "UpdateStatus Terminating", "DeleteServer"} {
				assert.Contains(t, calls, name, "the controller was killed after each of them")
			}
			assert.Less(t, slices.Index(calls, "Update"), slices.Index(calls, "CreateServer"),
				"the finalizer comes first")
		})
	}
}
