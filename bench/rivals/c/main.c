// Measures reads of a shared object that a writer replaces, with liburcu.
// `rivals WAY THREADS MILLISECONDS SWAPS` takes one sample and prints it in a
// line: the way, the number of reads, and pairs of value and unit. The programs
// in Rust and Go take the same arguments and do the same work.

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "rivals.h"

// BATCH is how many reads are between two looks at the clock.
#define BATCH 8192
#define SECOND 1000000000L

static const struct way *way;
static long threads, limit, swaps; // limit in ns, swaps a second
static atomic_long arrived, start; // start is 0 until the clock runs
static long cpu_before;            // processor time until then, in ns
static atomic_bool done;

struct reader {
	pthread_t thread;
	long reads, elapsed;
};

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

// cpu returns the processor time of this process.
static long cpu(void)
{
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) != 0) {
		perror("rivals: getrusage");
		exit(1);
	}
	struct timeval u = usage.ru_utime, s = usage.ru_stime;
	return (u.tv_sec + s.tv_sec) * SECOND + (u.tv_usec + s.tv_usec) * 1000;
}

static void check(int err, const char *what)
{
	if (err == 0)
		return;
	fprintf(stderr, "rivals: %s: %s\n", what, strerror(err));
	exit(1);
}

// pass lets all threads begin at once and returns when that was.
static long pass(void)
{
	if (atomic_fetch_add(&arrived, 1) + 1 == threads + (swaps > 0)) {
		cpu_before = cpu();
		atomic_store(&start, now());
	}
	long began;
	while ((began = atomic_load(&start)) == 0)
		sched_yield();
	return began;
}

// batch reads BATCH times. Values only grow, so the values of all reads lie
// between the one before and the one after them, and their sum does too.
static void batch(void)
{
	uint64_t before = way->value();
	uint64_t sum = way->sum(BATCH);
	uint64_t after = way->value();
	if (before * BATCH <= sum && sum <= after * BATCH)
		return;
	fprintf(stderr, "rivals: %d reads between value %" PRIu64 " and value %" PRIu64 " add up to %" PRIu64 "\n", BATCH, before, after, sum);
	exit(1);
}

static void *read_objects(void *argument)
{
	struct reader *r = argument;
	way->enter();
	for (long began = now(); now() - began < limit / 4;)
		batch();
	way->leave(); // a thread that waits may not hold up a writer
	long began = pass();
	way->enter();
	long reads = 0;
	for (; now() - began < limit; reads += BATCH)
		batch();
	r->reads = reads;
	r->elapsed = now() - began;
	way->leave();
	return NULL;
}

// write_objects swaps at the rate asked for and leaves the rate reached in a
// double. Swaps that come too late are left out, not made up for.
static void *write_objects(void *argument)
{
	long began = pass(), next = began, count = 0;
	while (!atomic_load(&done)) {
		way->swap(make_object((uint64_t)count + 2));
		count++;
		next += SECOND / swaps;
		long t = now();
		if (next < t)
			next = t;
		struct timespec until = { next / SECOND, next % SECOND };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	*(double *)argument = (double)count * SECOND / (double)(now() - began);
	return NULL;
}

static long number(const char *name, const char *word, long least)
{
	char *end;
	long n = strtol(word, &end, 10);
	if (*word != '\0' && *end == '\0' && n >= least)
		return n;
	fprintf(stderr, "rivals: %s \"%s\" is not a number from %ld\n", name, word, least);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: rivals WAY THREADS MILLISECONDS SWAPS\n");
		return 2;
	}
	const struct way *all[] = { &memb, &qsbr };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i]->name, argv[1]) == 0)
			way = all[i];
	if (way == NULL) {
		fprintf(stderr, "rivals: there is no way \"%s\"\n", argv[1]);
		return 2;
	}
	threads = number("THREADS", argv[2], 1);
	limit = number("MILLISECONDS", argv[3], 1) * (SECOND / 1000);
	swaps = number("SWAPS", argv[4], 0);

	way->swap(make_object(1));
	struct reader *readers = calloc((size_t)threads, sizeof *readers);
	if (readers == NULL) {
		perror("rivals: calloc");
		return 1;
	}
	pthread_t writer;
	double swapped = 0;
	if (swaps > 0)
		check(pthread_create(&writer, NULL, write_objects, &swapped), "pthread_create");
	for (long i = 0; i < threads; i++)
		check(pthread_create(&readers[i].thread, NULL, read_objects, &readers[i]), "pthread_create");
	long reads = 0;
	double rate = 0;
	for (long i = 0; i < threads; i++) {
		check(pthread_join(readers[i].thread, NULL), "pthread_join");
		reads += readers[i].reads;
		rate += (double)readers[i].reads / (double)readers[i].elapsed;
	}
	double spent = (double)(cpu() - cpu_before);
	atomic_store(&done, true);
	if (swaps > 0)
		check(pthread_join(writer, NULL), "pthread_join");
	free(readers);
	printf("%s %ld %.6f ns/op %.6f cpu-ns/op %.1f swaps/s %ld objects\n", way->name, reads, 1 / rate, spent / (double)reads, swapped, most_alive());
	return 0;
}
