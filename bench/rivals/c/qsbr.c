// liburcu's qsbr flavor: a reader says after each read that it holds nothing.

#define _LGPL_SOURCE // inlines rcu_read_lock and rcu_quiescent_state
#include <stddef.h>
#include <urcu/urcu-qsbr.h>

#include "rivals.h"

static struct object *current;

static uint64_t sum(long reads)
{
	uint64_t total = 0;
	while (reads-- > 0) {
		urcu_qsbr_read_lock();
		total += first_word(rcu_dereference(current));
		urcu_qsbr_read_unlock();
		urcu_qsbr_quiescent_state();
	}
	return total;
}

static uint64_t value(void)
{
	urcu_qsbr_read_lock();
	uint64_t v = value_of(rcu_dereference(current));
	urcu_qsbr_read_unlock();
	urcu_qsbr_quiescent_state();
	return v;
}

static void swap(struct object *new)
{
	struct object *old = rcu_xchg_pointer(&current, new);
	if (old == NULL)
		return;
	urcu_qsbr_synchronize_rcu();
	free_object(old);
}

const struct way qsbr = {
	"urcu-qsbr", urcu_qsbr_register_thread, urcu_qsbr_unregister_thread, sum, value, swap,
};
