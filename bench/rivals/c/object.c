#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "rivals.h"

// FREED is what an object holds once it is freed: larger than any value.
#define FREED (UINT64_MAX >> 16)

static atomic_long alive, most;

struct object *make_object(uint64_t value)
{
	struct object *obj = malloc(sizeof *obj);
	if (obj == NULL) {
		perror("rivals: malloc");
		exit(1);
	}
	for (int i = 0; i < WORDS; i++)
		obj->words[i] = value;
	long now = atomic_fetch_add(&alive, 1) + 1;
	if (now > atomic_load(&most))
		atomic_store(&most, now); // one thread makes objects
	return obj;
}

void free_object(struct object *obj)
{
	for (int i = 0; i < WORDS; i++)
		((volatile uint64_t *)obj->words)[i] = FREED;
	atomic_fetch_sub(&alive, 1);
	free(obj);
}

uint64_t value_of(const struct object *obj)
{
	uint64_t first = first_word(obj);
	for (int i = 0; i < WORDS; i++) {
		uint64_t word = ((const volatile uint64_t *)obj->words)[i];
		if (word == first && word > 0 && word < FREED)
			continue;
		fprintf(stderr, "rivals: read %" PRIu64 " and %" PRIu64 " in one object: it was freed or overwritten\n", word, first);
		exit(1);
	}
	return first;
}

long most_alive(void) { return atomic_load(&most); }
