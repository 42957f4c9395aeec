// Command seeds is the code of the published README with the import path
// changed. The pool is declared at package level, because update uses it, and
// values that a fragment reads are printed, because Go refuses unused variables; the
// added lines are marked. The two published versions of the README differ in
// the first line of update.
package main

import "github.com/poolswap/poolswap"

type MyCache struct {
	poolswap.Ref
	data map[string]string
}

type MyObject = MyCache // added: the README uses both names

var pool = poolswap.NewPool(
	func() *MyCache {
		return &MyCache{data: make(map[string]string)}
	},
	func(c *MyCache) bool {
		clear(c.data)
		return true // true = return to pool, false = discard
	},
)

func read(container *poolswap.Container[MyCache, *MyCache]) {
	cache := container.Acquire()
	if cache == nil {
		return // Container empty
	}
	defer container.Release(cache)

	// Use cache safely
	val := cache.data["key"]
	println(val) // added
}

func helper(container *poolswap.Container[MyCache, *MyCache]) { // added
	container.WithAcquire(func(cache *MyCache) {
		if cache != nil {
			val := cache.data["key"]
			println(val) // added
		}
	})
}

func update(container *poolswap.Container[MyCache, *MyCache]) {
	newCache := pool.Get()
	newCache.data["key"] = "new_value"

	container.Update(newCache)
	// Old cache automatically returned to pool once all readers finish
}

func updateWithGetNew(container *poolswap.Container[MyCache, *MyCache]) {
	newCache := container.GetNew()
	newCache.data["key"] = "new_value"
	container.Update(newCache)
	// Old cache automatically returned to pool once all readers finish
}

func main() {
	for _, update := range []func(*poolswap.Container[MyCache, *MyCache]){update, updateWithGetNew} {
		println("an empty container")
		{
			container := poolswap.NewEmptyContainer(pool)
			read(container)
			helper(container)
			update(container)
			read(container)
		}
		println("a container with an object")
		{
			container := poolswap.NewContainer(pool, &MyObject{
				data: map[string]string{"key": "value"},
			})
			read(container)
			update(container)
			read(container)
			helper(container)
			update(container)
		}
	}
	println("objects made:", pool.Stats().Created)
}
