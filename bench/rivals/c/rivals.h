// The interface between the harness and a way to share an object.

#ifndef RIVALS_H
#define RIVALS_H

#include <stdint.h>

// WORDS is the size of an object; all its words hold the same value.
#define WORDS 8

struct object {
	uint64_t words[WORDS];
};

// A way is one way to share an object between readers and a writer.
struct way {
	const char *name;
	void (*enter)(void); // a thread begins to read
	void (*leave)(void); // and ends
	uint64_t (*sum)(long reads); // the sum of the first word over that many reads
	uint64_t (*value)(void);     // value_of the current object
	void (*swap)(struct object *new);
};

extern const struct way memb, qsbr;

struct object *make_object(uint64_t value);
void free_object(struct object *);
long most_alive(void); // the most objects that there were at a time

// value_of returns the value of an object; it ends the program if the words do
// not agree, or hold what free_object leaves.
uint64_t value_of(const struct object *);

// first_word reads the one word that a measured read reads. Volatile, so that
// the compiler neither drops the read nor does two at once.
static inline uint64_t first_word(const struct object *obj)
{
	return *(const volatile uint64_t *)&obj->words[0];
}

#endif
