package queuetest

import "orrery/queue"

func (k kind) shutDownScripts() []script[queue.Interface[string]] {
	endsSecondDrain := EndsEveryDrain
	if !k.delays {
		endsSecondDrain = "" // client-go's base queue can do it; its delaying queue cannot
	}
	return []script[queue.Interface[string]]{
		{name: "ShutDown refuses new keys and hands out old ones", calls: `
			up -- a new queue
			add a; add b; shut; shut; down -- after ShutDown
			add c; add a; take a b -- after ShutDown, Get still hands out the old keys, and no new one
			wait; woken shutdown; wait; woken shutdown -- Get of an empty queue blocks after ShutDown`},
		{name: "ShutDown wakes all workers", calls: `
			wait 3; shut; woken shutdown shutdown shutdown -- ShutDown did not wake every worker that waits in Get`},
		{name: "ShutDown does not wait for workers", calls: `
			add a; add b; get a; shut; done a; take b -- after ShutDown`},
		{name: "a key added before ShutDown is handed out again after it", calls: `
			add a; get a; add a; shut; done a; take a -- the key was added before ShutDown, while a worker held it
			wait; woken shutdown -- Get of an empty queue blocks after ShutDown`},
		{name: "drain waits for workers", calls: `
			add a; add b; get a; get b
			drain; drained 0 -- the drain ended while workers held two keys
			down -- during a drain
			add c; idle; len 0 -- the key was added after the shutdown
			done a; drained 0 -- the drain ended while a worker held one key
			done b; drained 1 -- every key is done, and the drain still waits`},
		{name: "drain of an idle queue returns at once", calls: `
			add a; get a; done a; drain; drained 1 -- the queue is empty, and no worker holds a key
			drain; drained 2 -- again`},
		{name: "drain waits for a key that is queued again", needs: DrainsQueued, calls: `
			add a; get a; add a; drain; drained 0 -- a worker holds the key
			done a; drained 0 -- the drain ended although the key was queued again
			get a; drained 0 -- a worker holds the key again
			done a; drained 1 -- every key is done, and the drain still waits`,
			lacking: `
			add a; get a; add a; drain; drained 0 -- a worker holds the key
			done a; drained 1 -- no worker held a key for a moment
			len 1 -- one key is still queued`},
		{name: "drain after ShutDown waits", calls: `
			add a; get a; shut; drain; drained 0 -- a worker holds the key
			done a; drained 1 -- every key is done, and the drain still waits`},
		{name: "ShutDown ends a drain (issue 119554)", calls: `
			add a; get a; drain; drained 0 -- a worker holds the key
			shut; drained 1 -- ShutDown did not end the drain
			done a`},
		{name: "ShutDown ends every drain", calls: `
			add a; get a; drain; drain; drained 0 -- two drains wait for the worker
			shut; drained 2 -- ShutDown did not end both drains
			done a; idle; shut`},
		{name: "ShutDown ends a drain that began after another ShutDown", needs: endsSecondDrain, calls: `
			add a; get a; shut; drain; drained 0 -- the ShutDown before the drain ended it
			shut; drained 1 -- a second ShutDown ends a drain
			done a; drained 1`,
			lacking: `
			add a; get a; shut; drain; drained 0 -- the ShutDown before the drain ended it
			shut; drained 0 -- a second ShutDown does not end a drain
			done a; drained 1 -- every key is done, and the drain still waits`},
		{name: "drain waits for queued keys (issue 141079)", needs: DrainsQueued, calls: `
			add a; add b; drain; pass 1h; drained 0 -- the drain ended although two keys are queued
			get a; done a; drained 0 -- b is queued
			get b -- after the shutdown the queue hands out queued keys
			drained 0 -- a worker holds b
			done b; drained 1 -- every key is done, and the drain still waits`,
			lacking: `
			add a; add b; drain; drained 1 -- no worker holds a key, which is enough
			len 2 -- two keys are still queued`},
		{name: "two drains (issue 141079)", needs: WakesEveryDrain, calls: `
			add a; get a; drain; drain; drained 0 -- a worker holds the key
			done a; drained 2 -- Done did not wake both drains`,
			lacking: `
			add a; get a; drain; drain; drained 0 -- a worker holds the key
			done a; drained 1 -- Done wakes one of the two
			shut; drained 2`},
	}
}
