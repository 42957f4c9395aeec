// liburcu's memb flavor: readers count in memory of their own, a writer asks the
// kernel for a memory barrier on each processor.

#define _LGPL_SOURCE // inlines rcu_read_lock
#include <stddef.h>
#include <urcu/urcu-memb.h>

#include "rivals.h"

static struct object *current;

static uint64_t sum(long reads)
{
	uint64_t total = 0;
	while (reads-- > 0) {
		urcu_memb_read_lock();
		total += first_word(rcu_dereference(current));
		urcu_memb_read_unlock();
	}
	return total;
}

static uint64_t value(void)
{
	urcu_memb_read_lock();
	uint64_t v = value_of(rcu_dereference(current));
	urcu_memb_read_unlock();
	return v;
}

static void swap(struct object *new)
{
	struct object *old = rcu_xchg_pointer(&current, new);
	if (old == NULL)
		return;
	urcu_memb_synchronize_rcu();
	free_object(old);
}

const struct way memb = {
	"urcu-memb", urcu_memb_register_thread, urcu_memb_unregister_thread, sum, value, swap,
};
