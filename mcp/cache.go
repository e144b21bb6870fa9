package mcp

import (
	"container/list"
	"sync"
	"time"
)

const (
	// maxCached and maxCachedBytes bound the cache of results. Eight NPCs asking
	// a dozen things each fit many times over.
	maxCached      = 512
	maxCachedBytes = 4 << 20
)

// A cache remembers answers that their tools allow to be used again. The least
// recently used goes first.
type cache struct {
	mu    sync.Mutex // guards the rest
	byKey map[string]*list.Element
	order *list.List // of *cached, most recently used first
	bytes int
}

type cached struct {
	key    string
	answer answer
	until  time.Time
}

func newCache() *cache {
	return &cache{byKey: map[string]*list.Element{}, order: list.New()}
}

func (c *cache) get(now time.Time, key string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return answer{}, false
	}
	e := el.Value.(*cached)
	if !now.Before(e.until) {
		c.remove(el)
		return answer{}, false
	}
	c.order.MoveToFront(el)
	return e.answer, true
}

func (c *cache) put(now time.Time, key string, a answer, keep time.Duration) {
	size := len(key) + len(a.text)
	if size > maxCachedBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byKey[key]; ok {
		c.remove(el)
	}
	c.byKey[key] = c.order.PushFront(&cached{key, a, now.Add(keep)})
	c.bytes += size
	for c.order.Len() > maxCached || c.bytes > maxCachedBytes {
		c.remove(c.order.Back())
	}
}

// remove forgets one answer. The caller holds mu.
func (c *cache) remove(el *list.Element) {
	e := c.order.Remove(el).(*cached)
	delete(c.byKey, e.key)
	c.bytes -= len(e.key) + len(e.answer.text)
}
