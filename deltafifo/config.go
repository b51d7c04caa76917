package deltafifo

// Config configures a queue of any form. Only KeyFunc is required.
type Config[T any] struct {
	// KeyFunc returns the key of an object: "namespace/name", or "name" if it has no namespace.
	// It runs in the goroutine that calls Add, Update, Delete or Replace, outside any lock, and
	// must return the same key for an object before and after Transform.
	KeyFunc func(obj T) (string, error)
	// KnownObjects is the store that the consumer fills. The queue asks it which objects a list no
	// longer holds, whether a deleted object was known, and what Resync has to queue. If it is nil,
	// the queue knows only its waiting keys.
	KnownObjects KeyListerGetter[T]
	// Transform, if not nil, changes an object before it is queued, typically to drop unused fields.
	// It runs once for each incoming object, where KeyFunc runs, and never for a tombstone or a Sync.
	Transform func(obj T) (T, error)
	// Refused, if not nil, is called for each object without a key (key is "", err a *KeyError), and
	// for each that Transform refuses (err is a *TransformError). It is called where KeyFunc runs.
	Refused func(key string, err error)
	Trace   *Trace[T] // observes the queue
}

// Admit returns the key and the delta of an object. Every form calls it first, without holding its
// lock. A deletion needs only its key: if Transform refuses the object, the delta is a tombstone
// without one. Otherwise such an object, or one without a key, is an error.
func (c Config[T]) Admit(typ DeltaType, obj T) (key string, d Delta[T], err error) {
	if key, err = c.KeyFunc(obj); err != nil {
		return "", d, c.refuse("", &KeyError{Obj: obj, Err: err})
	}
	d = Delta[T]{Type: typ, Object: obj}
	if c.Transform == nil {
		return key, d, nil
	}
	if d.Object, err = c.Transform(obj); err == nil {
		return key, d, nil
	}
	err = c.refuse(key, &TransformError{Key: key, Err: err})
	if typ == Deleted {
		var unknown T
		return key, Tombstone(key, unknown), nil
	}
	return key, d, err
}

func (c Config[T]) refuse(key string, err error) error {
	if c.Refused != nil {
		c.Refused(key, err)
	}
	return err
}

// AdmitAll is Admit for the items of a list. The keys of listed are those of replaced, and also
// those of the refused items: the list holds them, so they were not deleted.
func (c Config[T]) AdmitAll(items []T) (keys []string, replaced []Delta[T], listed map[string]bool) {
	keys, replaced = make([]string, 0, len(items)), make([]Delta[T], 0, len(items))
	listed = make(map[string]bool, len(items))
	for _, item := range items {
		key, d, err := c.Admit(Replaced, item)
		if err == nil {
			keys, replaced = append(keys, key), append(replaced, d)
		}
		if key != "" {
			listed[key] = true
		}
	}
	return keys, replaced, listed
}

// Complete returns c with an empty store as the default of KnownObjects and a Trace with every hook
// set. It panics if KeyFunc is missing.
func (c Config[T]) Complete() Config[T] {
	if c.KeyFunc == nil {
		panic("deltafifo: Config.KeyFunc is required")
	}
	if c.KnownObjects == nil {
		c.KnownObjects = noObjects[T]{}
	}
	c.Trace = c.Trace.complete()
	return c
}

type noObjects[T any] struct{}

func (noObjects[T]) ListKeys() []string { return nil }

func (noObjects[T]) GetByKey(string) (obj T, exists bool) { return obj, false }

// SyncFlag has the methods HasSynced and Synced; every form embeds one.
type SyncFlag struct{ synced chan struct{} }

// NewSyncFlag returns a flag and a function that sets it and reports whether it was unset. Calls of
// that function must not overlap.
func NewSyncFlag() (flag SyncFlag, set func() (changed bool)) {
	flag = SyncFlag{make(chan struct{})}
	return flag, func() bool {
		if flag.HasSynced() {
			return false
		}
		close(flag.synced)
		return true
	}
}

// HasSynced reports whether the initial population has been processed.
func (s SyncFlag) HasSynced() bool {
	select {
	case <-s.synced:
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed when HasSynced becomes true.
func (s SyncFlag) Synced() <-chan struct{} { return s.synced }

// chanLock is a mutex made of a channel. In a testing/synctest bubble a goroutine that waits for it
// counts as durably blocked, unlike one that waits for a sync.Mutex: a process function may hold it
// for an hour of the bubble's time.
type chanLock chan struct{}

func newLock() chanLock { return make(chanLock, 1) }

func (l chanLock) Lock()   { l <- struct{}{} }
func (l chanLock) Unlock() { <-l }
